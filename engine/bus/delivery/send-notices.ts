import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { AgentNotify } from '../../workers/agents/index.ts';
import type { PrepareCommand } from '../../workers/runner/processes/index.ts';
import type { MessageRow } from '../messages/rows.ts';
import type { Notices } from '../notices/index.ts';
import { needsBase, sendRequests } from './http.ts';
import { createLanes } from './lanes.ts';
import type { TriedDelivery } from './log.ts';
import { type DeliveryOutcome, failedOutcome, TOLD } from './outcome.ts';
import type { PendingRows } from './rows.ts';
import { runNotifyCommand } from './run-command.ts';
import type { NoticeTarget } from './targets.ts';
import { buildNoticeValues, escapeForBlock, restrictToFileNames, type TemplateValues } from './values.ts';

/** Splits and fills the templates of `agents.notify`. */
export interface NotifyTemplates {
  /** The entry of agents without one, of mode `file`. */
  fallback: AgentNotify;
  words(template: string): string[];
  fill(template: string, values: TemplateValues): string;
  isLoopback(host: string): boolean;
}

export interface NoticeSenderDeps {
  clock: Clock;
  notices: Notices;
  templates: NotifyTemplates;
  busLog: { add(tried: TriedDelivery): void };
  /** The working folder of commands. */
  root: string;
  prepare: PrepareCommand;
}

/** Notifies sessions of messages, each session once per message. */
export interface NoticeSender {
  /** Notifies one session according to its agent's entry. Never rejects. Null if closing aborted it. */
  notify(row: MessageRow, target: NoticeTarget): Promise<DeliveryOutcome | null>;
  /** Forgets which sessions were notified of a message: it is no longer pending. */
  forget(id: number): void;
}

/** @param closing - aborts what is being sent */
export function createNoticeSender(
  { clock, notices, templates, busLog, root, prepare }: NoticeSenderDeps,
  rows: PendingRows,
  closing: AbortSignal,
): NoticeSender {
  const { fill, words, fallback } = templates;
  const lanes = createLanes(clock);
  /** The finished parts of each pending message, so that a retry repeats only the rest. */
  const doneParts = new Map<number, Set<string>>();
  /** Up to this id, an earlier host may have written a block and died before recording it. */
  const earlier = rows.lastId();

  function notifyTarget(row: MessageRow, target: NoticeTarget): Promise<DeliveryOutcome | null> {
    const { mode } = target.entry;
    if (mode === 'none') return Promise.resolve({ state: 'none' });
    if (mode === 'file') return Promise.resolve(writeNoticeFile(row, target, target.entry));
    if (mode === 'http') {
      // An agent may accept a request with no one at its screen, so the file is written too.
      const written = writeNoticeFile(row, target, fallback);
      if (needsBase(target.entry) && target.notifyBase === null) {
        const note = 'no local address of the agent is known (SVC_NOTIFY_URL): only its file was written';
        return Promise.resolve(written.state === 'failed' ? written : { state: 'told', note });
      }
      return sendInLane(row.id, target, (values, signal) =>
        sendRequests(target.entry, values, { fill, signal }),
      );
    }
    const command = target.entry.cmd ?? '';
    return sendInLane(row.id, target, (values, signal) =>
      runNotifyCommand(command, values, { words, fill, cwd: root, prepare, signal }),
    );
  }

  function writeNoticeFile(row: MessageRow, target: NoticeTarget, entry: AgentNotify): DeliveryOutcome {
    const part = `file ${target.session}`;
    if (isDone(row.id, part)) return TOLD;
    const values = buildNoticeValues(row, target);
    const outcome = tryToWrite(() => {
      const file = notices.file(fill(entry.path ?? fallback.path ?? '', restrictToFileNames(values)));
      const block = fill(entry.body ?? fallback.body ?? '', escapeForBlock(values));
      if (row.id > earlier || !notices.has(file, block)) notices.append(file, block);
    });
    return recordTry(row, target, 'file', part, outcome);
  }

  /** Runs `send` in the target's lane. Only the id is queued; the message is read when its turn comes. */
  async function sendInLane(
    id: number,
    target: NoticeTarget,
    send: (values: TemplateValues, signal: AbortSignal) => Promise<DeliveryOutcome | null>,
  ): Promise<DeliveryOutcome | null> {
    const { mode } = target.entry;
    const part = `${mode} ${target.session}`;
    if (isDone(id, part)) return TOLD;
    return lanes.run(part, async () => {
      if (closing.aborted) return null;
      const row = rows.get(id);
      // It was acknowledged or removed while it was queued.
      if (row === undefined) return TOLD;
      const outcome = await send(buildNoticeValues(row, target), closing).catch((error: unknown) =>
        failedOutcome(asSvcError(error).message),
      );
      return outcome === null ? null : recordTry(row, target, mode, part, outcome);
    });
  }

  function recordTry(
    row: MessageRow,
    target: NoticeTarget,
    mode: string,
    part: string,
    outcome: DeliveryOutcome,
  ): DeliveryOutcome {
    const error = outcome.state === 'failed' ? outcome.error : null;
    const { id, kind, from_session: from } = row;
    busLog.add({
      at: rfc3339(clock.now()),
      id,
      kind,
      from,
      to: target.session,
      mode,
      ok: error === null,
      error,
    });
    if (error === null) doneParts.set(id, (doneParts.get(id) ?? new Set()).add(part));
    return outcome;
  }

  const isDone = (id: number, part: string): boolean => doneParts.get(id)?.has(part) === true;

  return {
    notify: notifyTarget,
    forget: (id) => void doneParts.delete(id),
  };
}

/** Converts an error of `work` to an outcome: a wrong path or template is final, a failing file system is retried. */
function tryToWrite(work: () => void): DeliveryOutcome {
  try {
    work();
    return TOLD;
  } catch (thrown) {
    const error = asSvcError(thrown);
    const code = (thrown as NodeJS.ErrnoException).code ?? error.code;
    const isWrong = thrown instanceof SvcError && error.code !== 'storage_full';
    return failedOutcome(
      isWrong ? `${error.code}: ${error.message}` : `the file was not written: ${code}`,
      !isWrong,
    );
  }
}
