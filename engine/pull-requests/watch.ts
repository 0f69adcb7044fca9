import type { Task } from '../board/tasks/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { formatCount } from '../core/base/text.ts';
import {
  COMMENT_MARK,
  type CommitCheck,
  type Forge,
  type ForgeMemory,
  type ForgePullRequest,
  findPauseMs,
  findStatus,
  type PullRequestPlace,
  readPlace,
  type SubmittedReview,
} from '../forge/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { PullRequestPolicy } from './config.ts';
import { findFirstSession, type PreparationDeps } from './prepare.ts';
import {
  appendPullRequest,
  type ChecksState,
  type PullRequest,
  recordStateOfWork,
  sumUpChecks,
} from './records.ts';
import type { PullRequestRound, PullRequestRounds } from './rounds.ts';
import type { ForgeComments } from './send-comments.ts';
import { cleanLog, type FailedCheck, type FollowUpPrompt, writeRedPrompt } from './write-red-prompt.ts';
import { type WholeReview, writeReviewPrompt } from './write-review-prompt.ts';

const SVC = { actor: 'svc', via: 'engine' } as const satisfies CallAuthor;
/** How often due pull requests are looked for, and how often each is asked about, ms. */
const LOOK_MS = 5000;
const INTERVAL_MS = 60_000;
/** The longest interval, for one that has not changed for hours: reviewers take their time. */
const LONGEST_INTERVAL_MS = 600_000;
/** The interval is that part of the time without a change. */
const QUIET_PART = 20;
/** The shortest interval, after hooks: a run of tests sends many of them. */
const HOOK_INTERVAL_MS = 15_000;
const BACKOFF = { firstMs: INTERVAL_MS, longestMs: 3_600_000 };
/** Other checks are awaited for so long after one has failed, ms: one follow-up covers all. */
const AWAIT_MS = 900_000;
/** More failed checks than that are only named. */
const MOST_LOGS = 5;

/** A follow-up of failed checks, or of a review. */
export interface WantedFollowUp {
  title: string;
  prompt: string;
  sourceRef: string;
  sourceUrl: string | null;
  /** Why it waits for approval; null if it starts now. */
  held: string | null;
  /** The reviewers whose words it contains; empty for failed checks. */
  reviewers: readonly SubmittedReview[];
}

export interface PullRequestWatchDeps extends PreparationDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Opens the code host of a pull request. Throws `program_failed` if it cannot be asked. */
  openForge(place: PullRequestPlace, memory: ForgeMemory): Forge;
  rounds: PullRequestRounds;
  /** Shortens a log, and keeps all of it. */
  crushLog(text: string): Promise<string>;
  /** Inside `storage.write`. Returns the id of its task. Throws `conflict` if its worktree is gone or in use. */
  followUp(sessionId: string, wanted: WantedFollowUp): string;
  /** Inside `storage.write`: cancels a follow-up that no one has approved yet. */
  withdraw(taskId: string, why: string): void;
  /** Reports whether the follow-up of a task waits for approval. */
  isWaiting(taskId: string): boolean;
  /** Reports whether a review may ask for changes: its author belongs to the repository, or is listed in svc.yaml. */
  mayReview(review: SubmittedReview): boolean;
  /** Reports whether a follow-up of this task may run without approval: its author needs none. */
  mayRunAlone(task: Task): boolean;
  comments: Pick<ForgeComments, 'pullRequestEnded' | 'sendDue'>;
  /** Removes the branch and worktree, so that it can be restored. */
  discard(sessionId: string): Promise<unknown>;
}

/** A watched pull request; times are those of `clock`. */
interface Live {
  memory: ForgeMemory;
  nextAt: number;
  askedAt: number;
  /** The last report of the code host, and since when it holds. */
  report: string;
  changedAt: number;
  failures: number;
  /** When a check of the current commit was first seen to have failed. */
  redSince: { head: string; at: number } | null;
  problem: string | null;
  polling: Promise<void> | null;
}

/** An open pull request, with the last and the first session on its branch. */
interface WatchedPullRequest {
  session: Session;
  first: Session;
  /** The task of the first session, and how svc.yaml has its pull request handled. */
  task: Task;
  policy: PullRequestPolicy;
  pull: PullRequest;
  place: PullRequestPlace;
}

/** Names it for its code host. */
const nameForForge = ({ place, pull, session }: WatchedPullRequest): ForgePullRequest => ({
  repository: place.repository,
  number: place.number,
  head: pull.head,
  base: session.base ?? '',
});

/** Names what a follow-up is about. */
const describeSubject = ({ place, pull, task }: WatchedPullRequest) => ({
  reference: place.reference,
  head: pull.head,
  former: task.title,
});

/** Watches the open pull requests of sessions: their checks, their reviews, and how they end. */
export interface PullRequestWatch {
  start(): void;
  /** Asks about each now, whatever the pauses. */
  poll(): Promise<void>;
  /** Has the pull requests of a repository asked about soon. Returns false if none is watched there. */
  lookSoon(place: Pick<PullRequestPlace, 'host' | 'repository'>): boolean;
  /** Returns why the code host was not asked about a pull request; null if it was. */
  findProblem(pull: Pick<PullRequest, 'url'>): string | null;
  close(): Promise<void>;
}

export function createPullRequestWatch(deps: PullRequestWatchDeps): PullRequestWatch {
  const { storage, events, clock, log, sessions, records, rounds } = deps;
  const lives = new Map<string, Live>();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function findLive(url: string): Live {
    const found = lives.get(url);
    if (found !== undefined) return found;
    const live: Live = {
      ...{
        memory: new Map(),
        nextAt: 0,
        askedAt: 0,
        report: '',
        changedAt: 0,
        failures: 0,
        redSince: null,
        problem: null,
      },
      polling: null,
    };
    lives.set(url, live);
    return live;
  }

  /** Lists the open ones that svc.yaml asks to be watched, each with the last session on its branch. */
  function listWatched(): WatchedPullRequest[] {
    return [...records.listOpen()].flatMap(([sessionId, pull]) => {
      const place = readPlace(pull.program, pull.url);
      if (place === null || !sessions.isKnown(sessionId)) return [];
      const session = sessions.get(sessionId);
      if (session.branchState === 'continued') return [];
      const first = findFirstSession(sessions, session);
      const task = deps.getTask(first.taskId);
      const policy = deps.readPolicy(task);
      return policy.opening === 'off' ? [] : [{ session, first, task, policy, pull, place }];
    });
  }

  async function readLog(
    forge: Forge,
    pull: ForgePullRequest,
    check: CommitCheck,
  ): Promise<FailedCheck['log']> {
    if (check.jobId === null) {
      const text = cleanLog(check.summary);
      return text.trim() === '' ? null : { text, omittedBytes: 0 };
    }
    const { text, omittedBytes } = await forge.readLog(pull, check);
    return { text: await deps.crushLog(cleanLog(text)), omittedBytes };
  }

  /** Reads the logs of failed checks. One that is gone does not keep the others from being read. */
  async function readLogs(
    forge: Forge,
    pull: ForgePullRequest,
    failed: readonly CommitCheck[],
  ): Promise<FailedCheck[]> {
    const found: FailedCheck[] = [];
    for (const [at, check] of failed.entries()) {
      const reading = at < MOST_LOGS ? readLog(forge, pull, check) : Promise.resolve(null);
      const log = await reading.catch((thrown: unknown) => {
        const error = asSvcError(thrown);
        if (error.data.retry_after_s !== undefined) throw error;
        return { text: `(the log could not be read: ${error.message})`, omittedBytes: 0 };
      });
      found.push({ check, log });
    }
    return found;
  }

  /** Makes a follow-up for these subjects, none of which has one. */
  async function followUp(
    { session, first, task, policy, pull, place }: WatchedPullRequest,
    kind: PullRequestRound['kind'],
    subjects: readonly string[],
    { title, prompt, why }: FollowUpPrompt,
    reviewers: readonly SubmittedReview[],
    isInherited = false,
  ): Promise<void> {
    const { onRed, mostRounds } = policy;
    await storage.write(() => {
      const earlier = rounds.list(first.sessionId);
      if (earlier.some((each) => each.kind === kind && subjects.includes(each.subject))) return;
      const made = new Set(earlier.filter((each) => each.kind === 'checks').map(({ taskId }) => taskId)).size;
      const isAuto = kind === 'checks' && onRed === 'auto';
      const isAlone = isAuto && !isInherited && made < mostRounds && deps.mayRunAlone(task);
      const spent =
        isAuto && made >= mostRounds ? `; ${formatCount(made, 'round')} came before this one` : '';
      const held = isAlone ? null : `${why}${spent}`;
      const sourceRef = place.reference;
      const follows = { kind, sessionId: session.sessionId };
      try {
        const wanted = { title, prompt, sourceRef, sourceUrl: pull.url, held, reviewers };
        const taskId = deps.followUp(session.sessionId, wanted);
        for (const subject of subjects)
          rounds.add(first.sessionId, { ...follows, subject, taskId, problem: null });
      } catch (thrown) {
        // The worktree is gone, or a person works in it.
        const { message: problem } = asSvcError(thrown);
        for (const subject of subjects)
          rounds.add(first.sessionId, { ...follows, subject, taskId: null, problem });
        const { sessionId, taskId } = session;
        const reason = `${why}; no follow-up was made: ${problem}`;
        const data = { title: session.title, code: 'conflict', reason };
        events.append({ kind: 'alert', taskId, sessionId, ...SVC, data });
      }
    });
  }

  /** Withdraws waiting follow-ups that are no longer needed. */
  async function withdrawRounds(
    firstSession: string,
    why: string,
    isDue: (round: PullRequestRound) => boolean,
    state: 'passed' | 'superseded',
  ): Promise<void> {
    const due = rounds.list(firstSession).filter((each) => each.state === 'open' && isDue(each));
    if (due.length === 0) return;
    await storage.write(() => {
      for (const round of due) {
        if (round.taskId !== null) deps.withdraw(round.taskId, why);
        rounds.settle(firstSession, round, state);
      }
    });
  }

  /** Reports whether the branch can get a follow-up now: one waits or works at a time. */
  const isFree = ({ session, first }: WatchedPullRequest): boolean =>
    session.state === 'ended' &&
    sessions.findSuccessor(session.sessionId) === null &&
    !rounds
      .list(first.sessionId)
      .some(({ state, taskId }) => state === 'open' && taskId !== null && deps.isWaiting(taskId));

  /** A waiting follow-up of a review continues a session that another one has continued since then: it is made again. */
  async function renewReviews({ session, first }: WatchedPullRequest): Promise<void> {
    const stale = rounds
      .list(first.sessionId)
      .filter(
        ({ kind, taskId, sessionId }) =>
          kind === 'review' && sessionId !== session.sessionId && taskId !== null && deps.isWaiting(taskId),
      );
    if (stale.length === 0) return;
    await storage.write(() => {
      for (const round of stale) {
        deps.withdraw(round.taskId ?? '', 'the work has continued; the review is asked about again');
        rounds.drop(first.sessionId, round);
      }
    });
  }

  async function lookAtReviews(watched: WatchedPullRequest, forge: Forge): Promise<void> {
    const { first } = watched;
    const pull = nameForForge(watched);
    await renewReviews(watched);
    const known = new Set(rounds.list(first.sessionId).map(({ subject }) => subject));
    const unknown = await forge.listReviews(pull, (id) => known.has(id));
    // An answer that svc has posted may be listed as a review.
    const fresh = unknown.filter((each) => !each.body.includes(COMMENT_MARK) && deps.mayReview(each));
    if (fresh.length === 0 || !isFree(watched)) return;
    const whole: WholeReview[] = [];
    for (const review of fresh)
      whole.push({ ...review, comments: await forge.readReviewComments(pull, review) });
    const meant = whole.filter(({ body, comments }) => body !== '' || comments.length > 0);
    if (meant.length === 0) return;
    await followUp(
      watched,
      'review',
      meant.map(({ id }) => id),
      writeReviewPrompt(meant, describeSubject(watched)),
      meant,
    );
  }

  /** Records the state of its checks, and reports it if it has changed. */
  async function noteChecks(session: Session, checks: ChecksState | null): Promise<void> {
    const known = records.find(session.sessionId)?.checks ?? null;
    if (known?.state === checks?.state && known?.failed === checks?.failed) return;
    await storage.write(() => {
      if (!records.setChecks(session.sessionId, checks)) return;
      const pull = records.find(session.sessionId);
      if (pull !== null) appendPullRequest(events, session, pull, false, SVC);
    });
  }

  /** Lists the failed checks that failed before the work, too: its agent may not be able to fix them. */
  async function listInherited(
    watched: WatchedPullRequest,
    forge: Forge,
    failed: readonly CommitCheck[],
  ): Promise<CommitCheck[]> {
    const { baseCommit } = watched.session;
    if (baseCommit === null) return [];
    const before = await forge
      .listFailedNames(watched.place.repository, baseCommit)
      .catch((error: unknown): string[] => {
        // The code host may not have that commit.
        if (findStatus(error) === null) throw error;
        return [];
      });
    return failed.filter(({ name }) => before.includes(name));
  }

  async function lookAtChecks(watched: WatchedPullRequest, forge: Forge, live: Live): Promise<void> {
    const { session, first, policy, pull } = watched;
    await withdrawRounds(
      first.sessionId,
      'the pull request has newer commits',
      ({ kind, subject }) => kind === 'checks' && subject !== pull.head,
      'superseded',
    );
    const counted = await forge.listChecks(nameForForge(watched));
    const report = JSON.stringify([pull.head, counted.map(({ name, state }) => [name, state])]);
    if (report !== live.report) Object.assign(live, { report, changedAt: clock.now() });
    const failed = counted.filter(({ state }) => state === 'failed');
    await noteChecks(session, sumUpChecks(counted));
    if (failed.length === 0) {
      live.redSince = null;
      if (counted.length > 0 && counted.every(({ state }) => state === 'passed'))
        await withdrawRounds(
          first.sessionId,
          'the checks have passed without another commit',
          ({ kind, subject }) => kind === 'checks' && subject === pull.head,
          'passed',
        );
      return;
    }
    if (live.redSince?.head !== pull.head) live.redSince = { head: pull.head, at: clock.now() };
    const isPending = counted.some(({ state }) => state === 'pending');
    if (isPending && clock.now() - live.redSince.at < AWAIT_MS) return;
    const isKnown = rounds
      .list(first.sessionId)
      .some(({ kind, subject }) => kind === 'checks' && subject === pull.head);
    if (policy.onRed === 'off' || isKnown || !isFree(watched)) return;
    const inherited = await listInherited(watched, forge, failed);
    const prompt = writeRedPrompt(await readLogs(forge, nameForForge(watched), failed), {
      ...describeSubject(watched),
      inherited,
      base: session.baseCommit ?? '',
    });
    await followUp(watched, 'checks', [pull.head], prompt, [], inherited.length > 0);
  }

  /** Records that it was merged or closed, and settles its sessions. */
  async function endPullRequest(
    { session, first, pull }: WatchedPullRequest,
    state: 'merged' | 'closed',
  ): Promise<void> {
    const isWhole = session.headCommit === null || session.headCommit === pull.head;
    await withdrawRounds(first.sessionId, `the pull request was ${state}`, () => true, 'superseded');
    const isEnded = session.state === 'ended' && sessions.findSuccessor(session.sessionId) === null;
    // Before the end is recorded: an engine that is killed in between asks about it again.
    if (state === 'closed' && isEnded && session.branchState === null && isWhole)
      await deps
        .discard(session.sessionId)
        .catch((error: unknown) =>
          log.warn(
            { session: session.sessionId, error: asSvcError(error).message },
            'its work was not discarded',
          ),
        );
    await storage.write(() => {
      const { number, url } = pull;
      recordStateOfWork(deps, session, { number, url, state });
      if (state === 'merged' && session.state === 'ended' && session.branchState === null && isWhole)
        sessions.branchBecame(session.sessionId, 'merged');
      deps.comments.pullRequestEnded(session);
      const ended = records.find(session.sessionId);
      if (ended !== null) appendPullRequest(events, session, ended, false, SVC);
    });
  }

  async function pollOne(watched: WatchedPullRequest, live: Live): Promise<void> {
    const { pull, place } = watched;
    const forge = deps.openForge(place, live.memory);
    const reported = await forge.readPullRequest(nameForForge(watched));
    if (reported.state !== 'open') return endPullRequest(watched, reported.state);
    if (reported.head !== pull.head)
      throw new SvcError(
        'conflict',
        `its branch is at ${reported.head.slice(0, 10)}, which svc has not pushed; its checks are not looked at`,
      );
    await lookAtChecks(watched, forge, live);
    await lookAtReviews(watched, forge);
  }

  async function poll(watched: WatchedPullRequest): Promise<void> {
    const live = findLive(watched.pull.url ?? '');
    live.askedAt = clock.now();
    live.polling ??= pollOne(watched, live)
      .then(() => {
        const quietMs = clock.now() - live.changedAt;
        const pauseMs = Math.min(LONGEST_INTERVAL_MS, Math.max(INTERVAL_MS, quietMs / QUIET_PART));
        Object.assign(live, { failures: 0, problem: null, nextAt: clock.now() + pauseMs });
      })
      .catch((thrown: unknown) => {
        const error = asSvcError(thrown);
        const { message, code } = error;
        live.problem = message;
        if (code !== 'conflict') live.failures += 1;
        const pauseMs = findPauseMs(error, Math.max(1, live.failures), BACKOFF);
        live.nextAt = clock.now() + Math.max(INTERVAL_MS, pauseMs);
        log.warn({ pull_request: watched.pull.url, problem: message }, 'a pull request could not be watched');
      })
      .finally(() => {
        live.polling = null;
      });
    await live.polling;
  }

  /** One after the other: a code host wants no parallel requests. */
  let looking: Promise<void> | null = null;
  function lookAtDue(isForced: boolean): Promise<void> {
    looking ??= (async () => {
      for (const watched of listWatched()) {
        if (isClosed) return;
        if (isForced || findLive(watched.pull.url ?? '').nextAt <= clock.now()) await poll(watched);
      }
      await deps.comments.sendDue(isForced);
    })().finally(() => {
      looking = null;
    });
    return looking;
  }

  return {
    start() {
      timer = setInterval(() => void lookAtDue(false), LOOK_MS).unref();
    },
    async poll() {
      await looking;
      await lookAtDue(true);
    },
    lookSoon({ host, repository }) {
      const isThere = ({ place }: WatchedPullRequest): boolean =>
        place.host === host && place.repository.toLowerCase() === repository.toLowerCase();
      const found = listWatched().filter(isThere);
      for (const { pull } of found) {
        const live = findLive(pull.url ?? '');
        // A pause that the code host asked for is kept.
        if (live.failures === 0) live.nextAt = Math.min(live.nextAt, live.askedAt + HOOK_INTERVAL_MS);
      }
      if (found.length > 0) void lookAtDue(false);
      return found.length > 0;
    },
    findProblem: ({ url }) => lives.get(url ?? '')?.problem ?? null,
    async close() {
      isClosed = true;
      if (timer !== null) clearInterval(timer);
      await looking;
    },
  };
}
