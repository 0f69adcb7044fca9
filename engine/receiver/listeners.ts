import { SvcError } from '../core/base/errors.ts';
import type { ListenOptions, Receiver } from './index.ts';

type Listener = Awaited<ReturnType<Receiver['listen']>>;

/** Tracks open receivers. Each is closed by the client that opened it, and at the latest with the engine. */
export interface ReceiverListeners {
  /** Opens one. Throws `address_in_use`, also for an address that this engine already listens on. */
  open(options: ListenOptions): Promise<Listener>;
  addresses(): Listener['address'][];
  close(): Promise<void>;
}

export function createListeners(
  receiver: Receiver,
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml. */
  requireConsent: () => void,
): ReceiverListeners {
  const listeners = new Set<Listener>();
  return {
    async open(options) {
      requireConsent();
      const { host, port } = options;
      if ([...listeners].some(({ address }) => address.port === port && address.host === host)) {
        throw new SvcError('address_in_use', `this engine already listens on ${host}:${port}`, {
          hint: 'svc status shows its receivers; --addr gives this one another address',
        });
      }
      const listener = await receiver.listen(options);
      listeners.add(listener);
      return {
        address: listener.address,
        async close() {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    addresses: () => [...listeners].map(({ address }) => address),
    async close() {
      await Promise.all([...listeners].map((listener) => listener.close()));
    },
  };
}
