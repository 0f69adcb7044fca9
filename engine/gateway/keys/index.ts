import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { formatId, parseId } from '../../base/ids.ts';
import type { Storage } from '../../storage/index.ts';

/** The run that a gateway call belongs to. */
export interface KeyHolder {
  sessionId: string;
  taskId: string;
  /** Tokens that the task may spend; null for no bound of its own. */
  budgetTokens: number | null;
}

/** Owns the virtual keys of runs: one per session while it runs, of which only a hash is kept. */
export interface Keys {
  /** Where the gateway is. Throws `gateway_unreachable` when nothing listens there. */
  findUrl(): Promise<string>;
  /** The same address, whether anything answers there or not. */
  buildRoute(): string;
  /** Inside `storage.write`: issues a new key; earlier ones of the session become invalid. */
  issueKey(holder: KeyHolder): string;
  /** Inside `storage.write`. */
  revokeKey(sessionId: string): void;
  /** Finds the holder of a key; null for one that was never issued or is no longer valid. */
  verifyKey(key: string): KeyHolder | null;
  /** Inside `storage.write`: a provider has said that the holder must wait until then, Unix ms. */
  limitKey(key: string, until: number): void;
  /** The limit of the session's last key; null when there is none. */
  limitedUntil(sessionId: string): number | null;
}

interface Row {
  session_id: number;
  task_id: number;
  budget_tokens: number | null;
}

/** Long enough that a key cannot be guessed, and with a word that a scanner for secrets can find. */
const createKey = (): string => `svc-vkey-${randomBytes(32).toString('base64url')}`;
const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest();

const PROBE_MS = 2000;

export function createKeys({
  storage,
  clock,
  address,
}: {
  storage: Storage;
  clock: Clock;
  /** `gateway.addr`. */
  address(): { host: string; port: number };
}): Keys {
  const { db } = storage;
  const insert = db.prepare(
    'INSERT INTO virtual_key (hash, session_id, task_id, budget_tokens, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const end = db.prepare('UPDATE virtual_key SET revoked_at = ? WHERE session_id = ? AND revoked_at IS NULL');
  const find = db.prepare<unknown[], Row>(
    'SELECT session_id, task_id, budget_tokens FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const setLimit = db.prepare('UPDATE virtual_key SET limited_until = ? WHERE hash = ?');
  const last = db.prepare<unknown[], { limited_until: number | null }>(
    'SELECT limited_until FROM virtual_key WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );

  const revokeKey = (sessionId: string): void => void end.run(clock.now(), parseId('s', sessionId));

  return {
    buildRoute: () => `http://${formatHostPort(address())}`,
    async findUrl() {
      const { host, port } = address();
      const where = formatHostPort({ host, port });
      if (!(await isListening(host, port)))
        throw new SvcError('gateway_unreachable', `nothing listens at gateway.addr (${where})`, {
          hint: 'let the agent use its own login: agents.auth, or SVC_GATEWAY_BYPASS=1 for one dispatch; svc brings no gateway yet',
        });
      return `http://${where}`;
    },
    issueKey({ sessionId, taskId, budgetTokens }) {
      revokeKey(sessionId);
      const key = createKey();
      insert.run(hashKey(key), parseId('s', sessionId), parseId('t', taskId), budgetTokens, clock.now());
      return key;
    },
    revokeKey,
    verifyKey(key) {
      const row = find.get(hashKey(key));
      return row === undefined
        ? null
        : {
            sessionId: formatId('s', row.session_id),
            taskId: formatId('t', row.task_id),
            budgetTokens: row.budget_tokens,
          };
    },
    limitKey(key, until) {
      setLimit.run(until, hashKey(key));
    },
    limitedUntil: (sessionId) => last.get(parseId('s', sessionId))?.limited_until ?? null,
  };
}

const formatHostPort = ({ host, port }: { host: string; port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

const isListening = (host: string, port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host, port, timeout: PROBE_MS });
    const settleAs = (isThere: boolean) => (): void => {
      socket.destroy();
      done(isThere);
    };
    socket.once('connect', settleAs(true)).once('error', settleAs(false)).once('timeout', settleAs(false));
  });
