import Database from 'better-sqlite3';

type Method = (this: unknown, ...given: unknown[]) => unknown;

/** Counts the SQL statements that this thread runs from now on; returns the count so far. */
export function countStatements(): () => number {
  let count = 0;
  function watch(prototype: object, names: readonly string[]): void {
    const methods = prototype as Record<string, Method>;
    for (const name of names) {
      const method = methods[name];
      if (method === undefined) throw new Error(`better-sqlite3 has no ${name}`);
      methods[name] = function watched(...given) {
        count += 1;
        return method.apply(this, given);
      };
    }
  }
  const statement = new Database(':memory:').prepare('SELECT 1');
  watch(Object.getPrototypeOf(statement) as object, ['run', 'get', 'all', 'iterate']);
  watch(Database.prototype as object, ['exec']);
  return () => count;
}
