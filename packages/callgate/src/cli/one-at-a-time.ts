/** One terminal has one person: what is typed must not reach another question than the one it answers. */
export function oneAtATime(): <Value>(ask: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (ask) => {
    const asked = last.then(ask);
    last = asked.catch(() => undefined);
    return asked;
  };
}
