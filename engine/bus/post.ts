import type { Caller, OperationsOf } from '../core/api/operation.ts';
import type { Session, SessionPeers } from '../workers/sessions/index.ts';
import { readBusLimits } from './config.ts';
import { createDelivery } from './delivery/index.ts';
import { createBusLog } from './delivery/log.ts';
import type { BusDeps, SessionOutcome } from './deps.ts';
import { createAddresses } from './messages/address.ts';
import { createFamily } from './messages/family.ts';
import { addToHandoff, formatHandoff, listHandoffRecipients } from './messages/handoff.ts';
import { createMessages, type Messages } from './messages/index.ts';
import { messageOperations } from './messages/operations.ts';
import { peerTools } from './messages/peer-tools.ts';
import { createRetention } from './messages/retention.ts';
import { type Message, toMessage } from './messages/rows.ts';
import { createSurface } from './messages/surface.ts';
import { messageTools, resolveReader } from './messages/tools.ts';
import { createNotices } from './notices/index.ts';
import { createSurfaced } from './notices/surfaced.ts';

/** The life of messages: sending, delivery, reading, retention. */
export interface MessageService {
  messages: Messages;
  operations: OperationsOf<typeof messageTools | typeof peerTools | typeof messageOperations>[];
  /** Unread messages that the caller's session has not been shown yet; empty for a caller without a session. */
  surface(caller: Caller): Message[];
  /** Sends the session's handoff to its Chair. Call inside `storage.write`. */
  handOff(session: Session, outcome: SessionOutcome): void;
  /** Adds later findings to the session's handoff. Call inside `storage.write`. */
  addToHandoff(sessionId: string, name: string, value: string): void;
  /** Sends a further note to the recipients of a session's handoff. Call inside `storage.write`. */
  tellOfSession(session: Session, text: string): void;
  start(): void;
  close(): Promise<void>;
}

export function createPost(deps: BusDeps, peers: SessionPeers): MessageService {
  const { storage, events, clock, paths, callerPaths, config, root, data, prepare, log, templates } = deps;
  const limits = () => readBusLimits(config().bus);
  const maxBytes = () => config().bus.log_max_bytes;
  const onError = (message: string) => log.error({}, message);

  const delivery = createDelivery({
    storage,
    events,
    clock,
    peers,
    notices: createNotices({ data, paths, maxBytes }),
    templates,
    entries: () => config().agents.notify,
    busLog: createBusLog({ data, maxBytes }),
    root,
    prepare,
    onError,
  });
  const messages = createMessages({ storage, events, clock, peers, onPending: delivery.pending });
  const family = createFamily(peers);
  const addresses = createAddresses({
    peers,
    family,
    projectId: deps.projectId,
    isPreset: (agent) => {
      const { cmds, interactive, notify } = config().agents;
      return [cmds, interactive, notify].some((entries) => Object.hasOwn(entries, agent));
    },
  });
  const retention = createRetention({ storage, clock, limits, data, onError });
  const surface = createSurface({ messages, surfaced: createSurfaced({ data }) });
  const toolDeps = { storage, clock, paths, callerPaths, peers, family, addresses, messages };

  function sendFrom(session: Session, kind: 'handoff' | 'note', body: string): void {
    messages.send(
      {
        kind,
        body,
        payloadPath: null,
        fromSession: session.sessionId,
        fromAgent: session.agent,
        fromName: session.workerId,
        parentId: null,
        taskId: session.taskId,
        origin: null,
      },
      listHandoffRecipients(session, peers).map((toSession) => ({
        toSession,
        toWorker: null,
        toAgent: null,
      })),
      { actor: null, via: 'engine' },
    );
  }

  return {
    messages,
    operations: [
      ...messageTools(toolDeps),
      ...peerTools(toolDeps),
      ...messageOperations({ ...toolDeps, surface }),
    ],
    surface: (caller) =>
      caller.sessionId === null && caller.seat !== 'chair'
        ? []
        : surface(resolveReader(toolDeps, {}, caller)).map(toMessage),
    handOff: (session, outcome) => sendFrom(session, 'handoff', formatHandoff(session, outcome, clock.now())),
    addToHandoff: (session, name, value) =>
      messages.amend({ session, kind: 'handoff' }, (body) => addToHandoff(body, name, value), {
        actor: null,
        via: 'engine',
      }),
    tellOfSession: (session, text) => sendFrom(session, 'note', text),
    start() {
      delivery.start();
      retention.start();
    },
    async close() {
      await retention.close();
      await delivery.close();
    },
  };
}
