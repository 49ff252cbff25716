import { mistake } from "./world.ts";
import type { Methods } from "./world.ts";

interface Car {
  fuelLevel: number;
  batteryVoltage: number;
  engine_state: string;
  remainingUnlockedDoors: number;
  readonly doorStatus: Record<string, string>;
  readonly acTemperature: number;
  readonly fanSpeed: number;
  readonly acMode: string;
  readonly humidityLevel: number;
  headLightStatus: string;
  parkingBrakeStatus: string;
  brakePedalStatus: string;
  destination: string;
  readonly frontLeftTirePressure: number;
  readonly frontRightTirePressure: number;
  readonly rearLeftTirePressure: number;
  readonly rearRightTirePressure: number;
}

const tankGallons = 50;
const litersOfGallon = 3.785_41;
const zipcodes: Readonly<Record<string, string>> = { "San Francisco": "94016", Rivermist: "83214", Stonebrook: "74532", Silverpine: "62947", Oakendale: "47329" };
const distances: Readonly<Record<string, number>> = { "83214-94016": 980, "74532-83214": 750, "47329-62947": 1_053 };

export function carMethods(state: Car): Methods {
  return {
    startEngine({ ignitionMode }) {
      if (ignitionMode !== "START") {
        state.engine_state = "stopped";
        return { engineState: "stopped" };
      }
      if (state.remainingUnlockedDoors > 0) return mistake("All doors must be locked before starting the engine.");
      if (state.brakePedalStatus !== "pressed") return mistake("Brake pedal needs to be pressed when starting the engine.");
      if (state.fuelLevel <= 0) return mistake("Fuel tank is empty.");
      state.engine_state = "running";
      return { engineState: "running", fuelLevel: state.fuelLevel, batteryVoltage: state.batteryVoltage };
    },
    pressBrakePedal({ pedalPosition }) {
      if (!(Number(pedalPosition) >= 0 && Number(pedalPosition) <= 1)) return mistake("Pedal position must be between 0 and 1.");
      state.brakePedalStatus = Number(pedalPosition) > 0 ? "pressed" : "released";
      return { brakePedalStatus: state.brakePedalStatus, brakePedalForce: Number(pedalPosition) * 1_000 };
    },
    lockDoors({ unlock, door }) {
      const wanted = unlock === true ? "unlocked" : "locked";
      for (const one of door as readonly string[]) state.doorStatus[one] = wanted;
      state.remainingUnlockedDoors = Object.values(state.doorStatus).filter((status) => status === "unlocked").length;
      return { lockStatus: wanted, remainingUnlockedDoors: state.remainingUnlockedDoors };
    },
    fillFuelTank({ fuelAmount }) {
      if (state.fuelLevel + Number(fuelAmount) > tankGallons) return mistake("Cannot fill gas above the tank capacity.");
      state.fuelLevel += Number(fuelAmount);
      return { fuelLevel: state.fuelLevel };
    },
    activateParkingBrake({ mode }) {
      state.parkingBrakeStatus = mode === "engage" ? "engaged" : "released";
      return { parkingBrakeStatus: state.parkingBrakeStatus, _parkingBrakeForce: mode === "engage" ? 500 : 0, _slopeAngle: 10 };
    },
    setHeadlights({ mode }) {
      state.headLightStatus = mode === "off" ? "off" : "on";
      return { headlightStatus: state.headLightStatus };
    },
    set_navigation({ destination }) {
      state.destination = String(destination);
      return { status: `Navigating to ${state.destination}` };
    },
    displayCarStatus: ({ option }) => statusOf(state, String(option)),
    check_tire_pressure() {
      const tires = { frontLeftTirePressure: state.frontLeftTirePressure, frontRightTirePressure: state.frontRightTirePressure, rearLeftTirePressure: state.rearLeftTirePressure, rearRightTirePressure: state.rearRightTirePressure };
      const mean = Object.values(tires).reduce((sum, one) => sum + one, 0) / 4;
      return { ...tires, healthy_tire_pressure: mean >= 30 && mean <= 35, car_info: {} };
    },
    find_nearest_tire_shop: () => ({ shopLocation: "456 Oakwood Avenue, Rivermist, 83214" }),
    estimate_drive_feasibility_by_mileage: ({ distance }) => ({ canDrive: state.fuelLevel * 20 >= Number(distance) }),
    estimate_distance({ cityA, cityB }) {
      const distance = distances[[String(cityA), String(cityB)].sort().join("-")];
      return distance === undefined ? mistake("distance not found in database.") : { distance };
    },
    get_zipcode_based_on_city: ({ city }) => ({ zipcode: zipcodes[String(city)] ?? "00000" }),
    gallon_to_liter: ({ gallon }) => ({ liter: Number(gallon) * litersOfGallon }),
    liter_to_gallon: ({ liter }) => ({ gallon: Number(liter) * 0.264_172 }),
  };
}

function statusOf(state: Car, option: string): unknown {
  switch (option) {
    case "fuel":
      return { fuelLevel: state.fuelLevel };
    case "battery":
      return { batteryVoltage: state.batteryVoltage };
    case "doors":
      return { doorStatus: { ...state.doorStatus } };
    case "climate":
      return { currentACTemperature: state.acTemperature, fanSpeed: state.fanSpeed, climateMode: state.acMode, humidityLevel: state.humidityLevel };
    case "headlights":
      return { headlightStatus: state.headLightStatus };
    case "parkingBrake":
      return { parkingBrakeStatus: state.parkingBrakeStatus };
    case "brakePedal":
      return { brakePedalStatus: state.brakePedalStatus };
    case "engine":
      return { engineState: state.engine_state, fuelLevel: state.fuelLevel, batteryVoltage: state.batteryVoltage };
    default:
      return mistake("Invalid option");
  }
}

export const mathMethods: Methods = {
  mean: ({ numbers }) => ({ result: (numbers as readonly number[]).reduce((sum, one) => sum + one, 0) / (numbers as readonly number[]).length }),
  logarithm: ({ value, base, precision }) => ({ result: Number((Math.log(Number(value)) / Math.log(Number(base))).toPrecision(Number(precision))) }),
};
