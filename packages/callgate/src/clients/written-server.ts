/** A server as it is written into `mcpServers`: keys in the order they are read in. */
export interface WrittenServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly type?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disabled?: true;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}
