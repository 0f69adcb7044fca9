import {
  connect,
  type NatsConnection,
  nkeyAuthenticator,
  nkeys,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { settleWithin } from '../../core/base/settle-within.ts';

/** How a broker is reached, and as whom. */
export interface BrokerAccess {
  /** Addresses such as `tls://chair.lan:4222`. */
  servers: readonly string[];
  /** The certificate of the authority that has signed the broker's, PEM. */
  authority: string;
  /** The subject below which answers to this end's requests arrive. */
  inbox: string;
  login: { nkeySeed: string } | { user: string; password: string };
}

/** A connection to a broker, which is opened again by itself. */
export interface Broker {
  isUp(): boolean;
  /** Sends a message; it is dropped while the broker is away. */
  publish(subject: string, message: Uint8Array): void;
  /** Returns the function that ends it. */
  subscribe(subject: string, onMessage: (message: Uint8Array, subject: string) => void): () => void;
  /** Rejects with `broker_unreachable` if no one answers in time. */
  request(subject: string, message: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /** Answers requests. */
  serve(subject: string, answer: (message: Uint8Array, subject: string) => Promise<Uint8Array>): () => void;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
const FLUSH_MS = 1000;

/**
 * Connects to a broker, and stays connected. Rejects with `broker_unreachable` if the first attempt fails.
 * @param onChange called when the connection is lost, and when it is back: whatever was on its way is gone
 * @param timeoutMs how long an attempt may take
 */
export async function connectToBroker(
  { servers, authority, inbox, login }: BrokerAccess,
  onChange: (isUp: boolean) => void,
  timeoutMs = CONNECT_MS,
): Promise<Broker> {
  let connection: NatsConnection;
  try {
    connection = await connect({
      servers: [...servers],
      // That authority has signed nothing else, and addresses without a name have none to compare.
      tls: { ca: authority, ...{ checkServerIdentity: () => undefined } },
      authenticator:
        'nkeySeed' in login
          ? nkeyAuthenticator(new TextEncoder().encode(login.nkeySeed))
          : usernamePasswordAuthenticator(login.user, login.password),
      inboxPrefix: inbox,
      ...{ timeout: timeoutMs, pingInterval: 10_000, maxPingOut: 2 },
      ...{
        maxReconnectAttempts: -1,
        reconnectTimeWait: 1000,
        reconnectJitter: 1000,
        reconnectJitterTLS: 1000,
      },
      // A key is refused until the broker has read the list that has it.
      ...{ ignoreAuthErrorAbort: true, noEcho: true },
    });
  } catch (error) {
    throw new SvcError('broker_unreachable', `the broker cannot be reached: ${asSvcError(error).message}`, {
      cause: error,
    });
  }
  let isUp = true;
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      isUp = type === 'reconnect';
      onChange(isUp);
    }
  })();

  const subscribe: Broker['subscribe'] = (subject, onMessage) => {
    const subscription = connection.subscribe(subject, {
      callback(error, message) {
        if (error === null || error === undefined) onMessage(message.data, message.subject);
      },
    });
    return () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    };
  };

  return {
    isUp: () => isUp,
    publish(subject, message) {
      if (isUp && !connection.isClosed()) connection.publish(subject, message);
    },
    subscribe,
    async request(subject, message, timeoutMs) {
      try {
        return (await connection.request(subject, message, { timeout: timeoutMs })).data;
      } catch (error) {
        throw new SvcError('broker_unreachable', `no answer over the broker: ${asSvcError(error).message}`);
      }
    },
    serve(subject, answer) {
      const subscription = connection.subscribe(subject, {
        callback(error, message) {
          if (error !== null && error !== undefined) return;
          answer(message.data, message.subject).then(
            (data) => void message.respond(data),
            () => undefined,
          );
        },
      });
      return () => {
        if (!connection.isClosed()) subscription.unsubscribe();
      };
    },
    async close() {
      // The last message has to arrive.
      if (isUp)
        await settleWithin(
          FLUSH_MS,
          connection.flush().catch(() => undefined),
        );
      isUp = false;
      await connection.close();
    },
  };
}

/** Creates a key for the broker: the seed stays with its owner, and the broker knows the rest. */
export function createBrokerKey(): { nkeySeed: string; nkey: string } {
  const pair = nkeys.createUser();
  return { nkeySeed: new TextDecoder().decode(pair.getSeed()), nkey: pair.getPublicKey() };
}
