import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { toPrintable } from '../core/base/text.ts';
import type { LoggedEvent, Storage } from '../storage/index.ts';
import { countEvents, describeEvent } from './describe-events.ts';
import type { OutboundEvent } from './events.ts';
import { isForPerson } from './for-person.ts';
import { findQuietEnd } from './quiet-hours.ts';
import { isStillOpen, type OpenMatters } from './still-open.ts';

/** A notice on a person's screen: plain text in one line each. */
export interface DesktopNotice {
  title: string;
  text: string;
}

/** A dashboard that is open on a terminal. */
export interface NoticeFollower {
  /** True if its terminal can show a notice, or the person looks at it now. */
  shows: boolean;
  onNotice(notice: DesktopNotice): void;
}

/** The desktop of the person who started the engine. */
export interface PersonDesktop {
  canShow(): boolean;
  show(notice: DesktopNotice): void;
}

export interface DesktopNoticeDeps extends OpenMatters {
  storage: Storage;
  clock: Clock;
  config(): { notify: { desktop: boolean; quiet: string } };
  workspaceName(): string;
  /** Reads the title of a task, inside the event's transaction. */
  readTitle(taskId: string): string | null;
  desktop: PersonDesktop;
}

export interface DesktopNotices {
  /** Takes an event, inside its transaction. */
  add(event: LoggedEvent): void;
  /** Notifies a dashboard from now on. The newest that can show a notice gets all of them. */
  follow(follower: NoticeFollower): { close(): void };
  /** Shows what is due. */
  wake(): void;
  close(): void;
}

/** Events of such a time become one notice. */
const GATHER_MS = 1000;
/** The shortest time between two notices. */
const PAUSE_MS = 10_000;
const LONGEST_TEXT = 200;

/** Shows what waits for a person and what ended, on the terminal of an open dashboard or on the desktop. */
export function createDesktopNotices(deps: DesktopNoticeDeps): DesktopNotices {
  const { storage, clock, config, desktop } = deps;
  const timer = createDueTimer({ clock, onDue: wake });
  const followers: NoticeFollower[] = [];
  let waiting: { event: LoggedEvent; title: string | null }[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (waiting.length === 0) return;
    const now = clock.now();
    const at = Math.max(now + GATHER_MS, shownAt + PAUSE_MS);
    timer.sleepUntil(findQuietEnd(config().notify.quiet, at) ?? at);
  }

  const isCurrent = ({ event: { kind, decisionId, data } }: (typeof waiting)[number]): boolean =>
    isStillOpen({ kind, decisionId, askId: Number(data.ask_id) }, deps);

  function describe({ event, title }: (typeof waiting)[number]): string {
    const { kind, taskId, decisionId, sessionId, data } = event;
    if (kind === 'ask_opened') {
      const asker = taskId ?? (typeof data.from === 'string' ? data.from : 'someone');
      return `${asker} asks: ${deps.findQuestion(Number(data.ask_id)) ?? ''}`;
    }
    const named = { event: kind as OutboundEvent, task_id: taskId, decision_id: decisionId };
    return describeEvent({ ...named, session_id: sessionId, title })
      .map(({ text }) => text)
      .join('');
  }

  function wake(): void {
    if (!timer.isDue()) return;
    timer.sleepUntil(null);
    const current = waiting.filter(isCurrent);
    waiting = [];
    const [first, ...others] = current;
    if (first === undefined || !config().notify.desktop) return;
    shownAt = clock.now();
    show(
      others.length === 0
        ? describe(first)
        : countEvents(current.map(({ event }) => event.kind as OutboundEvent)),
    );
  }

  function show(text: string): void {
    const notice = { title: cut(`svc ${deps.workspaceName()}`), text: cut(text) };
    const showing = followers.findLast(({ shows }) => shows);
    if (showing !== undefined) showing.onNotice(notice);
    else if (desktop.canShow()) desktop.show(notice);
    else followers.at(-1)?.onNotice(notice);
  }

  return {
    add(event) {
      // The quiet hours may be others now.
      if (event.kind === 'config_reloaded') storage.afterCommit(schedule);
      if (!config().notify.desktop || !isForPerson(event)) return;
      const title = event.taskId === null ? null : deps.readTitle(event.taskId);
      storage.afterCommit(() => {
        waiting.push({ event, title });
        if (waiting.length === 1) schedule();
      });
    },
    follow(follower) {
      followers.push(follower);
      return {
        close() {
          followers.splice(followers.indexOf(follower), 1);
        },
      };
    },
    wake,
    close: timer.close,
  };
}

/** Makes one printable line, with an end. */
function cut(text: string): string {
  const characters = Array.from(toPrintable(text.toWellFormed()).replace(/\s+/g, ' ').trim());
  return characters.length > LONGEST_TEXT
    ? `${characters.slice(0, LONGEST_TEXT).join('')}…`
    : characters.join('');
}
