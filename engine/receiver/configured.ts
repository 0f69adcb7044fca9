import { asSvcError, type SvcError } from '../core/base/errors.ts';
import type { RouteSecrets } from './config.ts';
import type { ReceiverListeners } from './listeners.ts';

type Listener = Awaited<ReturnType<ReceiverListeners['open']>>;

/** The receiver configured in svc.yaml, which the engine opens automatically. */
export interface ConfiguredReceiver {
  /** Opens it; null if that fails, see `problem`. */
  open(): Promise<Listener | null>;
  /** Returns why it could not be opened, as a clause; null while it is open and before the first attempt. */
  problem(): string | null;
}

export function createConfiguredReceiver(deps: {
  listeners: ReceiverListeners;
  address(): { host: string; port: number };
  /** Throws `secret_missing`. */
  secrets(): RouteSecrets;
  /** Names the process that listens on a port, as a clause; null when unknown. */
  whoListens(port: number): Promise<string | null>;
  warn(facts: object, text: string): void;
}): ConfiguredReceiver {
  let problem: string | null = null;

  async function explainFailure(error: SvcError): Promise<string> {
    if (error.code !== 'address_in_use') return error.message;
    const who = await deps.whoListens(deps.address().port).catch(() => null);
    return who === null ? error.message : `${error.message} by ${who}`;
  }

  return {
    async open() {
      try {
        const listener = await deps.listeners.open({
          ...deps.address(),
          secrets: deps.secrets(),
          allowRemote: false,
        });
        problem = null;
        return listener;
      } catch (thrown) {
        const error = asSvcError(thrown);
        problem = await explainFailure(error);
        // Without a secret no receiver is wanted.
        if (error.code !== 'secret_missing')
          deps.warn({ error: problem }, 'the receiver could not be opened');
        return null;
      }
    },
    problem: () => problem,
  };
}
