import { mistake } from "./world.ts";
import type { Drawn, Methods } from "./world.ts";

interface Trading {
  readonly orders: Record<string, unknown>;
  readonly account_info: { balance: number };
  authenticated: boolean;
  order_counter: number;
  readonly stocks: Readonly<Record<string, object>>;
  watch_list: string[];
  readonly transaction_history: unknown[];
}

/** The clock of the set stands. */
const timestamp = "2024-09-02 05:40:15";

export function tradingMethods(state: Trading): Methods {
  const signedIn = (work: () => unknown): unknown => (state.authenticated ? work() : mistake("User not authenticated."));
  const withOrder = (id: unknown, work: (order: Record<string, unknown>) => unknown): unknown => {
    const order = state.orders[String(id)];
    return typeof order === "object" && order !== null ? work(order as Record<string, unknown>) : mistake(`Order with ID ${String(id)} not found.`);
  };
  return {
    add_to_watchlist: ({ stock }) => {
      if (!state.watch_list.includes(String(stock))) state.watch_list.push(String(stock));
      return { watchlist: [...state.watch_list] };
    },
    remove_stock_from_watchlist: ({ symbol }) => signedIn(() => {
      if (!state.watch_list.includes(String(symbol))) return mistake(`Stock ${String(symbol)} not found in watchlist.`);
      state.watch_list.splice(state.watch_list.indexOf(String(symbol)), 1);
      return { status: `Stock ${String(symbol)} removed from watchlist successfully.` };
    }),
    get_watchlist: () => signedIn(() => ({ watchlist: [...state.watch_list] })),
    get_account_info: () => signedIn(() => ({ ...state.account_info })),
    get_stock_info: ({ symbol }) => {
      const found = state.stocks[String(symbol)];
      return found === undefined ? mistake(`Stock with symbol '${String(symbol)}' not found.`) : { ...found };
    },
    get_available_stocks: ({ sector }) => ({ stock_list: { Technology: ["AAPL", "GOOG", "MSFT", "NVDA"], Automobile: ["TSLA", "F", "GM"] }[String(sector)] ?? [] }),
    get_current_time: () => ({ current_time: "10:30 AM" }),
    place_order: ({ order_type, symbol, price, amount }) => signedIn(() => {
      const id = state.order_counter;
      state.orders[String(id)] = { id, order_type, symbol, price, amount, status: "Open" };
      state.order_counter += 1;
      return { order_id: id, order_type, status: "Pending", price, amount };
    }),
    get_order_details: ({ order_id }) => withOrder(order_id, (order) => ({ ...order })),
    cancel_order: ({ order_id }) => withOrder(order_id, (order) => {
      if (order["status"] === "Completed") return mistake(`Can't cancel order ${String(order_id)}. Order is already completed.`);
      order["status"] = "Cancelled";
      return { order_id, status: "Cancelled" };
    }),
    fund_account: ({ amount }) => signedIn(() => {
      state.account_info.balance += Number(amount);
      state.transaction_history.push({ type: "deposit", amount, timestamp });
      return { status: "Account funded successfully", new_balance: state.account_info.balance };
    }),
    trading_logout() {
      state.authenticated = false;
      return { status: "Logged out successfully" };
    },
  };
}

interface Booking {
  readonly card_id: string;
  readonly travel_date: string;
  readonly travel_from: string;
  readonly travel_to: string;
  readonly travel_class: string;
  readonly travel_cost: number;
  readonly transaction_id: string;
  insurance?: string;
}
interface Travel {
  readonly credit_card_list: Record<string, { balance: number }>;
  readonly booking_record: Record<string, Booking>;
  access_token: string | null;
  token_expires_in: number | null;
  token_scope: string | null;
  budget_limit: number | null;
}

/** Of the routes that the tasks fly, economy, one way. */
const fares: Readonly<Record<string, number>> = { "RMS-SBK": 220, "SFO-ORD": 400, "ORD-LAX": 180, "SFO-LAX": 200, "JFK-LAX": 570, "RMS-JFK": 210, "CRH-RMS": 280, "SFO-CIA": 700, "LAX-JFK": 600, "ORD-SVP": 380, "RMS-LAX": 330, "RMS-BOS": 200, "LHR-CDG": 100, "SFO-BOS": 450, "OKD-LAX": 220 };
const classFactors: Readonly<Record<string, number>> = { economy: 1, business: 2, first: 5 };
/** Units of a currency for one US dollar. */
const perDollar: Readonly<Record<string, number>> = { USD: 1, GBP: 0.7, RMB: 7, EUR: 0.8 };
const airports = ["RMS", "SBK", "MPC", "SVP", "SHD", "CDG", "LHR", "SSV", "OKD", "WLB", "PEK", "HND", "HKG", "CIA", "CRH", "ATV", "PHV", "GFD", "SFO", "LAX", "JFK", "ORD", "BOS"];
const cityAirports: Readonly<Record<string, string>> = { Chicago: "ORD", Rivermist: "RMS", Stonebrook: "SBK", "San Francisco": "SFO", "Los Angeles": "LAX", "New York": "JFK", London: "LHR" };

/** A flight costs twice as much on a day whose digits add up to an even number. */
function fareOf({ travel_from, travel_to, travel_class, travel_date }: Readonly<Record<string, unknown>>): number | undefined {
  const base = fares[`${String(travel_from)}-${String(travel_to)}`];
  const factor = classFactors[String(travel_class)];
  if (base === undefined || factor === undefined) return undefined;
  const digits = (String(travel_date).match(/\d/g) ?? []).reduce((sum, digit) => sum + Number(digit), 0);
  return base * factor * (digits % 2 === 0 ? 2 : 1);
}

export function travelMethods(state: Travel, drawn: Drawn): Methods {
  const withToken = (token: unknown, work: () => unknown): unknown => (token === state.access_token ? work() : mistake("Invalid access token"));
  const withBooking = (id: unknown, work: (booking: Booking) => unknown): unknown => {
    const booking = state.booking_record[String(id)];
    return booking === undefined ? mistake("Booking not found") : work(booking);
  };
  return {
    authenticate_travel({ grant_type }) {
      state.access_token = drawn.next("token");
      state.token_expires_in = 2;
      state.token_scope = String(grant_type);
      return { expires_in: 2, access_token: state.access_token, token_type: "Bearer", scope: grant_type };
    },
    get_flight_cost(args) {
      const cost = fareOf(args);
      return cost === undefined ? mistake("No available route for the given airports.") : { travel_cost_list: [cost] };
    },
    book_flight: ({ access_token, card_id, ...flight }) => withToken(access_token, () => {
      const card = state.credit_card_list[String(card_id)];
      const cost = fareOf(flight);
      if (card === undefined) return { booking_status: false, error: "Card not registered" };
      if (cost === undefined) return { booking_status: false, error: "No available route for the given airports." };
      if (card.balance < cost) return { booking_status: false, error: "Balance is less than the cost" };
      card.balance -= cost;
      const [booking_id, transaction_id] = [drawn.next("booking"), drawn.next("transaction")];
      const { travel_date, travel_from, travel_to, travel_class } = flight as unknown as Booking;
      state.booking_record[booking_id] = { card_id: String(card_id), travel_date, travel_from, travel_to, travel_class, travel_cost: cost, transaction_id };
      return { booking_id, transaction_id, booking_status: true, booking_history: {} };
    }),
    cancel_booking: ({ access_token, booking_id }) => withToken(access_token, () => withBooking(booking_id, ({ card_id, travel_cost }) => {
      const card = state.credit_card_list[card_id];
      if (card !== undefined) card.balance += travel_cost;
      delete state.booking_record[String(booking_id)];
      return { cancel_status: true };
    })),
    purchase_insurance: ({ access_token, booking_id, card_id, insurance_cost }) => withToken(access_token, () => withBooking(booking_id, () => {
      const card = state.credit_card_list[String(card_id)];
      if (card === undefined) return { insurance_status: false, error: "Credit card not registered" };
      card.balance -= Number(insurance_cost);
      return { insurance_id: drawn.next("insurance"), insurance_status: true };
    })),
    retrieve_invoice: ({ access_token, booking_id }) => withToken(access_token, () => withBooking(booking_id, ({ card_id: _card, ...booking }) => ({ invoice: { booking_id, ...booking } }))),
    contact_customer_support: ({ booking_id }) => withBooking(booking_id, () => ({ customer_support_message: "Thank you for contacting customer support. Your message has been received and we will get back to you shortly." })),
    set_budget_limit: ({ access_token, budget_limit }) => withToken(access_token, () => {
      state.budget_limit = Number(budget_limit);
      return { budget_limit };
    }),
    compute_exchange_rate({ base_currency, target_currency, value }) {
      const [from, to] = [perDollar[String(base_currency)], perDollar[String(target_currency)]];
      return from === undefined || to === undefined ? mistake("No exchange rate available for the given currencies.") : { exchanged_value: Math.round((Number(value) / from) * to * 100) / 100 };
    },
    get_nearest_airport_by_city: ({ location }) => ({ nearest_airport: cityAirports[String(location)] ?? "Unknown" }),
    list_all_airports: () => airports,
    verify_traveler_information: ({ passport_number }) => (String(passport_number).startsWith("US") ? { verification_status: true } : { verification_status: false, verification_failure: "Passport must be issued by the United States." }),
  };
}
