/** What an interpreter prints on descriptor 2 when it ends itself for lack of memory. */
export interface MemoryReport {
  /** Where the report starts; from there on it is no output of the program. */
  readonly starts: string;
  /** What it says in any case. */
  readonly says: string;
}

/** Keeps an interpreter's own report out of the program's output, and tells that there was one. */
export interface ReportFilter {
  /** What of these bytes is output. */
  pass(bytes: Buffer): Buffer;
  readonly isSeen: boolean;
}

/** A program that prints such a report itself is believed: it ends no better for it. */
export function createReportFilter(report: MemoryReport | undefined): ReportFilter {
  let hidden = "";
  let isHiding = false;
  return {
    pass(bytes) {
      if (report === undefined) return bytes;
      const start = isHiding ? 0 : bytes.indexOf(report.starts);
      if (start < 0) return bytes;
      isHiding = true;
      if (hidden.length < 16_384) hidden += bytes.toString("latin1", start);
      return bytes.subarray(0, start);
    },
    get isSeen() {
      return report !== undefined && hidden.includes(report.says);
    },
  };
}
