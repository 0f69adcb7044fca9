import type { ForwardedReader } from '../../gateway/index.ts';
import { estimateTokens } from '../../gateway/index.ts';
import type { Storage } from '../../storage/index.ts';

/** The savings of one tool in the contexts of one session. */
export interface ContextSaving {
  /** Null for calls without a session. */
  session: string | null;
  tool: string;
  calls: number;
  bytesIn: number;
  bytesOut: number;
  /** Estimated from the bytes. */
  tokensIn: number;
  tokensOut: number;
}

interface SavingRow {
  session: string;
  tool: string;
  calls: number;
  bytes_in: number;
  bytes_out: number;
  last_at: number;
}

export type SavedTotal = Omit<ContextSaving, 'session' | 'tool'>;

/** The name for the savings of the gateway. */
const GATEWAY = 'gateway';

/** Sums the savings of the engine and the gateway. It loads none of the code that shortens texts. */
export function createSavings({
  storage,
  forwarded,
  log,
}: {
  storage: Storage;
  forwarded: ForwardedReader;
  log: { warn(facts: object, text: string): void };
}) {
  const select = storage.db.prepare<unknown[], SavingRow>(
    'SELECT * FROM context_saving WHERE @session IS NULL OR session = @session ORDER BY last_at DESC, session, tool LIMIT +@limit',
  );
  const sum = storage.db.prepare<unknown[], Pick<SavingRow, 'calls' | 'bytes_in' | 'bytes_out'>>(
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(bytes_in), 0) AS bytes_in, coalesce(sum(bytes_out), 0) AS bytes_out
    FROM context_saving WHERE @session IS NULL OR session = @session`,
  );
  const bySession = storage.db.prepare<unknown[], { session: string; saved: number }>(
    `SELECT session, sum(bytes_in - bytes_out) AS saved FROM context_saving WHERE session <> '' GROUP BY session`,
  );

  /** Returns an empty list if they cannot be read. */
  function listOfGateway(session: string | null): SavingRow[] {
    try {
      return forwarded
        .listSavings()
        .filter((row) => session === null || row.session === session)
        .map((row) => ({ ...row, tool: GATEWAY }));
    } catch (error) {
      log.warn({ error }, 'the savings of the gateway cannot be read');
      return [];
    }
  }

  return {
    /** Returns by session and tool, last used first; and in total. */
    sumSavings(session: string | null, limit: number): { total: SavedTotal; savings: ContextSaving[] } {
      const ofGateway = listOfGateway(session);
      const total = sum.get({ session }) ?? { calls: 0, bytes_in: 0, bytes_out: 0 };
      for (const { calls, bytes_in, bytes_out } of ofGateway) {
        total.calls += calls;
        total.bytes_in += bytes_in;
        total.bytes_out += bytes_out;
      }
      const rows = [...select.all({ session, limit }), ...ofGateway]
        .sort((one, other) => other.last_at - one.last_at)
        .slice(0, limit);
      return {
        total: estimate(total),
        savings: rows.map(
          (row): ContextSaving => ({
            session: row.session === '' ? null : row.session,
            tool: row.tool,
            ...estimate(row),
          }),
        ),
      };
    },

    /** Returns estimated tokens saved per session, if any. */
    listSavedTokens(): ReadonlyMap<string, number> {
      const saved = new Map(bySession.all().map((row) => [row.session, row.saved]));
      for (const { session, bytes_in, bytes_out } of listOfGateway(null))
        if (session !== '') saved.set(session, (saved.get(session) ?? 0) + bytes_in - bytes_out);
      return new Map(
        [...saved].flatMap(([session, bytes]) => (bytes > 0 ? [[session, estimateTokens(bytes)]] : [])),
      );
    },
  };
}

const estimate = ({
  calls,
  bytes_in: bytesIn,
  bytes_out: bytesOut,
}: Pick<SavingRow, 'calls' | 'bytes_in' | 'bytes_out'>): SavedTotal => ({
  calls,
  bytesIn,
  bytesOut,
  tokensIn: estimateTokens(bytesIn),
  tokensOut: estimateTokens(bytesOut),
});
