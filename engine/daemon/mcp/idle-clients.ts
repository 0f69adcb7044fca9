import { SvcError } from '../../core/base/errors.ts';

/** Clients that disappeared are forgotten after this long, ms. */
const IDLE_MS = 60 * 60 * 1000;
const LOOK_EVERY_MS = 30_000;

/** The use of a client, which disappears without a word. */
export interface ClientUse {
  /** Requests that are open. */
  requests: number;
  usedAt: number;
}

/**
 * Keeps a limited number of clients. The least recently used one makes room for a new one, unless something of it is
 * open.
 */
export function createIdleClients<C extends ClientUse>({
  most,
  hasGone = () => false,
  end,
  refusal,
}: {
  most: number;
  /** Reports whether an idle client can never return. */
  hasGone?(client: C): boolean;
  end(client: C): Promise<void>;
  /** The message for a client too many. */
  refusal: string;
}) {
  const clients = new Map<string, C>();

  async function forget(key: string): Promise<void> {
    const client = clients.get(key);
    if (client === undefined) return;
    clients.delete(key);
    await end(client);
  }

  const timer = setInterval(() => {
    const tooOld = Date.now() - IDLE_MS;
    for (const [key, client] of clients)
      if (client.requests === 0 && (client.usedAt < tooOld || hasGone(client))) void forget(key);
  }, LOOK_EVERY_MS);
  timer.unref();

  return {
    clients,
    forget,
    /** Throws `conflict` if all clients are in use. @param coming clients that are not kept yet */
    makeRoom(coming = 0): void {
      if (clients.size + coming < most) return;
      const idle = [...clients].filter(([, { requests }]) => requests === 0);
      const [oldest] = idle.sort(([, one], [, other]) => one.usedAt - other.usedAt);
      if (oldest === undefined) throw new SvcError('conflict', refusal);
      void forget(oldest[0]);
    },
    /** Counts a request; returns the function that ends it. */
    beginRequest(client: C): () => void {
      client.requests += 1;
      client.usedAt = Date.now();
      return () => {
        client.requests -= 1;
        client.usedAt = Date.now();
      };
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.all([...clients.keys()].map(forget));
    },
  };
}
