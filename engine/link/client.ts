import { type PollerDeps, startPolling } from './poll-commands.ts';
import { createEventSender, type SenderDeps } from './send-events.ts';
import { createStanding, type LinkStanding, type StandingDeps } from './standing.ts';

export interface ClientDeps extends SenderDeps, PollerDeps, StandingDeps {
  log: PollerDeps['log'];
}

/** Sends local events to the server and polls for commands, while it is open. */
export interface LinkClient {
  standing(): LinkStanding;
  /** Called if there may be events to send, and with `hasDecisions` a changed list of decisions. */
  wake(hasDecisions: boolean): void;
  close(): Promise<void>;
}

export function createLinkClient(deps: ClientDeps): LinkClient {
  const closing = new AbortController();
  const standing = createStanding({
    ...deps,
    onRevoked() {
      deps.onRevoked();
      closing.abort();
    },
  });
  const sender = createEventSender(deps, standing, closing.signal);
  const poller = startPolling({ ...deps, onReached: sender.resume }, standing, closing.signal);

  return {
    standing: standing.read,
    wake(hasDecisions) {
      if (hasDecisions) sender.markPending();
      // The first poll must reach the server before anything is sent to it.
      if (standing.read().state !== 'connecting') sender.sendDue();
    },
    async close() {
      closing.abort();
      await Promise.all([poller.close(), sender.close()]);
      await deps.calls.close();
    },
  };
}
