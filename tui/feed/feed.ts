import { asSvcError, type EngineClient } from '../../engine/index.ts';
import type { Effect } from '../acts/step.ts';
import type { DataChange } from '../state/data.ts';
import type { Store } from '../store.ts';
import { followEvents, type ResumePoint } from './events.ts';
import { keepConnected } from './link.ts';
import { followLogs } from './log.ts';
import { watchNotices } from './notices.ts';
import { followRefs } from './refs.ts';
import { deliveriesOf, messagesOf, sessionsOf } from './rows.ts';
import { fetchDetails } from './wanted.ts';
import { watchWorkers } from './watch.ts';

/** Ages move on the screen; nothing is written when none does. */
const TICK_MS = 10_000;
/** What changes without an event: how deliveries and notices go. */
const LOOK_MS = 2000;

export interface Feed {
  /** Sends a call of the reducer's to the engine and the answer back. */
  call(effect: Extract<Effect, { do: 'call' }>): void;
  /** Starts the engine that has gone. */
  startEngine(): void;
  close(): Promise<void>;
}

/** The only part of the dashboard that talks to the engine and watches files. */
export function createFeed(options: {
  store: Store;
  /** `start`: whether an engine may be started. */
  connect(start: boolean): Promise<EngineClient>;
  /** The first connection could not be made: there is nothing to show. */
  onHopeless(error: unknown): void;
}): Feed {
  const { store } = options;
  const closing = new AbortController();
  let point: ResumePoint | null = null;
  let notices: Promise<{ close(): Promise<void> }> | null = null;
  let isFirst = true;

  const send: Store['send'] = (happening) => {
    if (!closing.signal.aborted) store.send(happening);
  };
  const change = (data: DataChange): void => send({ type: 'data', change: data, at: Date.now() });

  const link = keepConnected({
    signal: closing.signal,
    async connect(start) {
      try {
        return await options.connect(start);
      } catch (error) {
        if (isFirst) options.onHopeless(error);
        throw error;
      }
    },
    async onConnected(client) {
      const { workspace, root, data } = client.welcome;
      send({ type: 'link', link: { workspace, root } });
      await followEvents({
        client,
        from: point,
        complete: store.get().data.complete,
        onChange: change,
        onPoint: (next) => {
          point = next;
        },
        onFailed: (error) => {
          const { message, hint } = asSvcError(error);
          send({ type: 'said', text: message, tone: 'bad', hint });
        },
      });
      logs.again();
      refs.again();
      send({ type: 'link', link: { phase: 'live', since: Date.now(), reason: null } });
      if (!isFirst) send({ type: 'said', text: 'connected again', tone: 'good' });
      isFirst = false;
      await (await notices)?.close();
      notices = watchNotices({ folder: `${data}/notices`, onNotices: (all) => change({ notices: all }) });
    },
    onLost(reason) {
      const { phase, since } = store.get().link;
      send({ type: 'link', link: { phase: 'lost', since: phase === 'lost' ? since : Date.now(), reason } });
    },
  });

  const details = fetchDetails({
    client: link.client,
    get: store.get,
    onLoaded: (loaded) => send({ type: 'detail', loaded }),
  });
  const logs = followLogs({
    client: link.client,
    get: store.get,
    onLines: (session, lines, ended, reset) => send({ type: 'log', session, lines, ended, reset }),
  });
  const workers = watchWorkers({
    client: link.client,
    get: store.get,
    onSessions: (sessions) => change({ sessions }),
  });
  /** Drops what was said of it, and reads anew whether it waits for review; what is on the screen is then asked for again. */
  async function readMoved(repository: string): Promise<void> {
    details.outdate();
    send({ type: 'refs', repository });
    const rows = [...store.get().data.sessions.values()].filter(
      (each) => each.repository === repository && each.state === 'ended' && each.promoted_at === null,
    );
    const ids = rows.map((each) => each.session_id);
    if (ids.length > 0) change({ sessions: await sessionsOf(link.client(), ids) });
  }
  const refs = followRefs({
    client: link.client,
    get: store.get,
    onMoved: (repository) => void readMoved(repository).catch(() => undefined),
  });
  const unsubscribe = store.subscribe(() => {
    details.look();
    logs.look();
    refs.look();
    workers.look();
  });

  /** The events of the last look: whatever is new since may have been sent somewhere. */
  let seen = store.get().data.events;
  async function look(): Promise<void> {
    const { link: now, data } = store.get();
    if (now.phase !== 'live') return;
    details.again();
    const isPending = [...data.deliveries.values()].some((each) => each.state === 'pending');
    const hasNew = data.events !== seen;
    seen = data.events;
    const messages = [...data.messages.values()].filter((each) => each.delivery === 'pending');
    if (messages.length > 0) {
      const ids = messages.map((each) => each.message_id);
      change({ messages: await messagesOf(link.client(), ids) });
    }
    if (isPending || hasNew) change({ deliveries: await deliveriesOf(link.client()) });
  }
  const timers = [
    setInterval(() => send({ type: 'tick', at: Date.now() }), TICK_MS),
    setInterval(() => void look().catch(() => undefined), LOOK_MS),
  ];

  return {
    call(effect) {
      const { operation, input, busy } = effect;
      Promise.resolve()
        .then(() => link.client().callByName(operation, input))
        .then(
          (answer) => send({ type: 'answered', effect, answer }),
          (error: unknown) => {
            const { message, hint } = asSvcError(error);
            send({ type: 'refused', busy, text: message, hint });
          },
        );
    },
    startEngine: () => link.start(),
    async close() {
      closing.abort();
      unsubscribe();
      details.stop();
      logs.stop();
      workers.stop();
      for (const timer of timers) clearInterval(timer);
      try {
        link.client().close();
      } catch {
        // There is no connection to close.
      }
      await (await notices)?.close();
    },
  };
}
