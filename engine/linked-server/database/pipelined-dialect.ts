import { type DatabaseConnection, type Driver, PostgresDialect, type TransactionSettings } from 'kysely';

/** PostgreSQL over connections that send a query while earlier ones are still unanswered. */
export class PipelinedDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const [begin, commit] = [driver.beginTransaction.bind(driver), driver.commitTransaction.bind(driver)];
    const begun = new WeakMap<DatabaseConnection, Promise<void>>();
    return Object.assign(driver, {
      /** Sends the beginning; the first query need not wait for its answer. */
      async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
        const beginning = begin(connection, settings);
        beginning.catch(() => undefined);
        begun.set(connection, beginning);
      },
      async commitTransaction(connection: DatabaseConnection): Promise<void> {
        await begun.get(connection);
        await commit(connection);
      },
    });
  }
}
