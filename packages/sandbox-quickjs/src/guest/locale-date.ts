import { SafeRangeError, slice } from "./intrinsics.ts";
import { checkLocale, optionOf, refuseUnknown } from "./locale-options.ts";

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const known = ["dateStyle", "timeStyle", "weekday", "year", "month", "day", "hour", "minute", "second", "hour12", "timeZone", "timeZoneName"] as const;

type Width = "numeric" | "2-digit";
interface DateShape {
  readonly weekday: "long" | "short" | undefined;
  readonly year: Width | undefined;
  readonly month: Width | "long" | "short" | undefined;
  readonly day: Width | undefined;
  readonly hour: Width | undefined;
  readonly minute: Width | undefined;
  readonly second: Width | undefined;
  readonly hour12: boolean;
  readonly zoneName: boolean;
  /** Between date and time. */
  readonly joint: string;
}

/** How a date is written, for en-US in UTC, the guest's zone. */
export interface DateFormat {
  format(date: Date): string;
}

/** `defaults`: what is shown when the options name no part. */
export function dateFormat(locales: unknown, options: unknown, defaults: "date" | "time" | "both"): DateFormat {
  checkLocale(locales);
  refuseUnknown("Date formatting", options, known);
  const zone = (options as { timeZone?: unknown } | undefined)?.timeZone;
  if (zone !== undefined && zone !== "UTC" && zone !== "GMT" && zone !== "Etc/UTC") {
    throw new SafeRangeError(`The sandbox knows the time zone UTC only, not ${JSON.stringify(zone)}: shift the date yourself, or let a tool format it`);
  }
  const shape = shapeOf(options, defaults);
  return {
    format(date) {
      if (Number.isNaN(date.getTime())) return "Invalid Date";
      const day = dateText(date, shape);
      const time = timeText(date, shape);
      return day === "" ? time : time === "" ? day : day + shape.joint + time;
    },
  };
}

const widths = ["numeric", "2-digit"] as const;

function shapeOf(options: unknown, defaults: "date" | "time" | "both"): DateShape {
  const hour12 = (options as { hour12?: unknown } | undefined)?.hour12 !== false;
  const dateStyle = optionOf(options, "dateStyle", ["full", "long", "medium", "short"]);
  const timeStyle = optionOf(options, "timeStyle", ["full", "long", "medium", "short"]);
  if (dateStyle !== undefined || timeStyle !== undefined) return styled(dateStyle, timeStyle, hour12);
  const weekday = optionOf(options, "weekday", ["long", "short"]);
  const year = optionOf(options, "year", widths);
  const month = optionOf(options, "month", ["numeric", "2-digit", "long", "short"]);
  const day = optionOf(options, "day", widths);
  const hour = optionOf(options, "hour", widths);
  const minute = optionOf(options, "minute", widths);
  const second = optionOf(options, "second", widths);
  const zoneName = optionOf(options, "timeZoneName", ["short"]) !== undefined;
  const noDate = (weekday ?? year ?? month ?? day) === undefined;
  const noTime = (hour ?? minute ?? second) === undefined;
  const needsDate = (defaults === "date" && noDate) || (defaults === "both" && noDate && noTime);
  const needsTime = (defaults === "time" && noTime) || (defaults === "both" && noDate && noTime);
  const joint = month === "long" || month === "short" ? (month === "long" ? " at " : ", ") : ", ";
  const dateParts = needsDate ? ({ year: "numeric", month: "numeric", day: "numeric" } as const) : { year, month, day };
  const timeParts = needsTime ? ({ hour: "numeric", minute: "2-digit", second: "2-digit" } as const) : { hour, minute, second };
  return { weekday, ...dateParts, ...timeParts, hour12, zoneName, joint };
}

type Style = "full" | "long" | "medium" | "short" | undefined;

function styled(dateStyle: Style, timeStyle: Style, hour12: boolean): DateShape {
  const isLong = dateStyle === "full" || dateStyle === "long";
  return {
    weekday: dateStyle === "full" ? "long" : undefined,
    year: dateStyle === undefined ? undefined : dateStyle === "short" ? "2-digit" : "numeric",
    month: dateStyle === undefined ? undefined : isLong ? "long" : dateStyle === "medium" ? "short" : "numeric",
    day: dateStyle === undefined ? undefined : "numeric",
    hour: timeStyle === undefined ? undefined : "numeric",
    minute: timeStyle === undefined ? undefined : "2-digit",
    second: timeStyle === undefined || timeStyle === "short" ? undefined : "2-digit",
    hour12,
    zoneName: timeStyle === "full" || timeStyle === "long",
    joint: isLong ? " at " : ", ",
  };
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function dateText(date: Date, shape: DateShape): string {
  const { weekday, year, month, day } = shape;
  const weekdayText = weekday === undefined ? "" : weekday === "long" ? (days[date.getUTCDay()] as string) : slice(days[date.getUTCDay()] as string, 0, 3);
  const yearText = year === undefined ? "" : year === "2-digit" ? two(date.getUTCFullYear() % 100) : `${date.getUTCFullYear()}`;
  const dayText = day === undefined ? "" : day === "2-digit" ? two(date.getUTCDate()) : `${date.getUTCDate()}`;
  const name = months[date.getUTCMonth()] as string;
  if (month === "long" || month === "short") {
    const monthDay = [month === "long" ? name : slice(name, 0, 3), dayText].filter((part) => part !== "").join(" ");
    const withYear = yearText === "" ? monthDay : dayText === "" ? `${monthDay} ${yearText}` : `${monthDay}, ${yearText}`;
    return weekdayText === "" ? withYear : `${weekdayText}, ${withYear}`;
  }
  const monthText = month === undefined ? "" : month === "2-digit" ? two(date.getUTCMonth() + 1) : `${date.getUTCMonth() + 1}`;
  const numeric = [monthText, dayText, yearText].filter((part) => part !== "").join("/");
  return weekdayText === "" ? numeric : numeric === "" ? weekdayText : `${weekdayText}, ${numeric}`;
}

function timeText(date: Date, shape: DateShape): string {
  const { hour, minute, second, hour12 } = shape;
  const hours = date.getUTCHours();
  const shown = hour12 ? ((hours + 11) % 12) + 1 : hours;
  const parts: string[] = [];
  if (hour !== undefined) parts.push(hour === "2-digit" || !hour12 ? two(shown) : `${shown}`);
  if (minute !== undefined) parts.push(parts.length > 0 || second !== undefined || minute === "2-digit" ? two(date.getUTCMinutes()) : `${date.getUTCMinutes()}`);
  if (second !== undefined) parts.push(parts.length > 0 ? two(date.getUTCSeconds()) : `${date.getUTCSeconds()}`);
  const clock = parts.join(":");
  const half = hour !== undefined && hour12 ? ` ${hours < 12 ? "AM" : "PM"}` : "";
  return clock === "" ? "" : `${clock}${half}${shape.zoneName ? " UTC" : ""}`;
}
