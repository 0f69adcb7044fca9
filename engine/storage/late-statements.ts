import type { Statement } from 'better-sqlite3';
import type { Db } from './database.ts';

type AnyStatement = Statement<unknown[], unknown>;
/** The parts of a statement that modules use. */
type LatePart = 'run' | 'get' | 'all' | 'iterate' | 'pluck' | 'raw' | 'source';

/** How many are prepared at once: less than a millisecond. */
const AT_ONCE = 16;

/** A statement that SQLite prepares at its first use. */
class LateStatement implements Pick<AnyStatement, 'run' | 'get' | 'all' | 'iterate' | 'source'> {
  readonly source: string;
  readonly #prepare: (sql: string) => AnyStatement;
  #prepared: AnyStatement | undefined;
  #shape: 'pluck' | 'raw' | undefined;

  constructor(source: string, prepare: (sql: string) => AnyStatement) {
    this.source = source;
    this.#prepare = prepare;
  }

  prepared(): AnyStatement {
    if (this.#prepared === undefined) {
      this.#prepared = this.#prepare(this.source);
      if (this.#shape !== undefined) this.#prepared[this.#shape]();
    }
    return this.#prepared;
  }

  pluck(): this {
    this.#shape = 'pluck';
    return this;
  }

  raw(): this {
    this.#shape = 'raw';
    return this;
  }

  run(...given: unknown[]) {
    return this.prepared().run(...given);
  }

  get(...given: unknown[]) {
    return this.prepared().get(...given);
  }

  all(...given: unknown[]) {
    return this.prepared().all(...given);
  }

  iterate(...given: unknown[]) {
    return this.prepared().iterate(...given);
  }
}

/**
 * Lets `db.prepare` return statements that are prepared at their first use: modules declare hundreds, 10 ms of each
 * start. Returns the function that prepares the rest in pauses, so that an error in one does not wait for its use.
 */
export function prepareLate(db: Db): () => void {
  const prepare = db.prepare.bind(db) as (sql: string) => AnyStatement;
  const late: LateStatement[] = [];
  let isDone = false;
  db.prepare = ((sql: string): Pick<AnyStatement, LatePart> => {
    if (isDone) return prepare(sql);
    const statement = new LateStatement(sql, prepare);
    late.push(statement);
    return statement as unknown as Pick<AnyStatement, LatePart>;
  }) as unknown as Db['prepare'];
  return function prepareRest() {
    isDone = true;
    if (!db.open) return;
    for (const statement of late.splice(0, AT_ONCE)) statement.prepared();
    if (late.length > 0) setImmediate(prepareRest).unref();
  };
}
