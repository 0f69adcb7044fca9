import type { Caller, OperationCall } from '../../core/api/operation.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { PromoteStrategy } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session } from '../../workers/sessions/index.ts';
import { optionalField } from './base-option.ts';
import type { WantedSession, WorktreeActionsDeps } from './deps.ts';
import type { EndedSession } from './ended-session.ts';
import { createPromotionCleanup, type PromotionResult } from './promotion-cleanup.ts';
import { describePromotedWork, writeMergeMessage } from './promotion-message.ts';
import type { UndoRecords } from './undo-records.ts';
import type { WorktreeRemoval } from './worktree-removal.ts';

/** Promotes a session's branch. Throws `promote_conflict` with the `paths`, `checkout_dirty`, `unverified`, `conflict`. */
export type PromoteSession = (
  wanted: WantedSession & {
    strategy?: PromoteStrategy | undefined;
    /** Of the commit that merge or squash makes. */
    message?: string | undefined;
    keep?: boolean | undefined;
    /** In a race: true to not discard the others. */
    keepOthers?: boolean | undefined;
    head?: string | undefined;
  },
  caller: Caller,
  call: Pick<OperationCall, 'begin' | 'begun'>,
) => Promise<PromotionResult>;

/** The worker knows best the purpose of its side of a conflict. */
function offerResolution(
  error: SvcError,
  { sessionId, base, worktree }: EndedSession,
  into: string,
): SvcError {
  if (worktree === null) return error;
  const offer =
    into === base
      ? sentence`{worker.follow_up ${sessionId} conflicts=true}`
      : sentence`{worker.follow_up ${sessionId} conflicts=true base=${into}}`;
  const hint = sentence`${offer} makes its worker merge ${into} on its branch and resolve them; then promote again`;
  return new SvcError(error.code, error.message, { hint, data: error.data, cause: error });
}

/** Creates promotion: merging the branch of an ended session into its base, and cleaning up afterwards. */
export function createPromotion(
  deps: Pick<
    WorktreeActionsDeps,
    | 'storage'
    | 'events'
    | 'sessions'
    | 'getTask'
    | 'worktrees'
    | 'readEvidence'
    | 'isStrict'
    | 'races'
    | 'stopSession'
    | 'endCommands'
  > & {
    records: Pick<UndoRecords, 'recordPromotion'>;
    /** Discards due sessions. Returns the failures, a sentence each. */
    discardDue(): Promise<string[]>;
    /** A second call re-reads the state that the first one left. */
    oneAtATime<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
  },
  removal: WorktreeRemoval,
  /** Finds the ended session's branch and the base that it is merged into. */
  promotion: (wanted: WantedSession, caller: Caller) => { session: EndedSession; base: string },
): PromoteSession {
  const { storage, events, sessions, worktrees, races } = deps;
  const settlePromotion = createPromotionCleanup(deps, removal);

  /** Answers a repeated call with its earlier result, finishing any clean-up that is left. */
  async function promoteOnce(
    sessionId: string,
    wanted: Parameters<PromoteSession>[0],
    caller: Caller,
    call: Pick<OperationCall, 'begin' | 'begun'>,
  ): Promise<PromotionResult> {
    const before = call.begun<Omit<PromotionResult, 'removed' | 'kept'>>();
    if (before !== undefined && sessions.get(sessionId).worktree === null) {
      return { ...before, discarded: before.discarded ?? [], removed: true, kept: [] };
    }
    if (wanted.strategy === 'rebase' && wanted.message !== undefined)
      throw new SvcError('usage', 'a rebase keeps the messages of the commits', {
        hint: 'the strategies merge and squash take a message',
      });
    const { session, base: into } = promotion(wanted, caller);
    if (before === undefined) races.checkMayWin(session);
    if (before === undefined) return promoteSession(session, into, wanted, caller, call);
    // A promotion of an earlier version has no record of others.
    return settlePromotion({ ...before, discarded: before.discarded ?? [] }, session, into, wanted);
  }

  async function promoteSession(
    session: EndedSession,
    into: string,
    wanted: Parameters<PromoteSession>[0],
    caller: Caller,
    call: Pick<OperationCall, 'begin' | 'begun'>,
  ): Promise<PromotionResult> {
    const { sessionId, taskId, title, branch, repository } = session;
    const about = { sessionId, taskId, actor: caller.actor, via: caller.via };
    const { doubts: warnings, head: verified } = await checkEvidence(deps, sessionId);
    const head = wanted.head ?? verified;
    const { strategy = 'merge' } = wanted;
    const standard = strategy === 'merge' ? writeMergeMessage(session) : undefined;
    const message = wanted.message?.replaceAll('\r\n', '\n').trim() ?? standard;
    const found = await worktrees.findRepository(repository);
    const promoted = await worktrees
      .promote({
        repository: found,
        branch,
        base: into,
        strategy,
        ...describePromotedWork(deps, session),
        ...optionalField('message', message),
        ...(session.baseCommit === null ? {} : { baseCommit: session.baseCommit }),
        ...(head === undefined ? {} : { head }),
      })
      .catch(async (thrown: unknown) => {
        const error = asSvcError(thrown);
        if (error.code === 'promote_conflict') {
          const data = { title, base: into, paths: error.data.paths ?? [] };
          await storage.write(() => events.append({ ...about, kind: 'promote_conflict', data }));
          throw offerResolution(error, session, into);
        }
        throw error;
      });
    const done = await call.begin(() => {
      sessions.promoted(sessionId, caller.sessionId ?? caller.actor);
      if (!promoted.alreadyMerged)
        deps.records.recordPromotion({ sessionId, ...promoted, path: findLocalPath(session.worktree) });
      events.append({ ...about, kind: 'worktree_promoted', data: { title, ...promoted } });
      return { sessionId, branch, ...promoted, ...winRace(session, wanted, caller), warnings };
    });
    return settlePromotion(done, { ...session, repository: found }, into, wanted);
  }

  /** Inside `storage.write`: in a race the task is done, and the other sessions are stopped. */
  function winRace(
    session: Session,
    { keepOthers = false }: Parameters<PromoteSession>[0],
    { actor, via }: Caller,
  ): Pick<PromotionResult, 'discarded'> {
    const race = races.ofSession(session);
    if (race === null) return { discarded: [] };
    const live = races.win(race.id, session.sessionId, keepOthers, { actor, via });
    for (const { sessionId } of keepOthers ? [] : live) deps.stopSession(sessionId, { actor, via });
    const due = sessions.ofRace(race.id).filter(({ sessionId }) => sessions.isDiscardDue(sessionId));
    return { discarded: due.map(({ sessionId }) => sessionId) };
  }

  return async (wanted, caller, call) => {
    const { sessionId } = sessions.resolve(wanted.session);
    const promote = () => deps.oneAtATime(sessionId, () => promoteOnce(sessionId, wanted, caller, call));
    // If two sessions of one race are promoted concurrently, the second finds the first one promoted.
    const race = races.ofSession(sessions.get(sessionId));
    return race === null ? promote() : deps.oneAtATime(`race ${race.id}`, promote);
  };
}

/**
 * Lists warnings about a promotion, and pins the verified commit if there are none, since the branch must not move
 * past it. Throws `unverified` under a strict guard.
 */
async function checkEvidence(
  deps: Pick<WorktreeActionsDeps, 'readEvidence' | 'isStrict'>,
  sessionId: string,
): Promise<{ doubts: string[]; head?: string }> {
  const { state, reasons, rerun, rerunState } = await deps.readEvidence(sessionId);
  if (state === 'verified') return { doubts: [], ...(rerun?.head == null ? {} : { head: rerun.head }) };
  const text = `${sessionId} is not verified (${state}: ${reasons.join('; ')})`;
  if (!deps.isStrict()) return { doubts: [text] };
  throw new SvcError('unverified', `${text}, and guard.profile is strict`, {
    hint:
      rerunState === null
        ? sentence`{verify.status ${sessionId}} shows its evidence; {verify.rerun ${sessionId}} reruns its tests`
        : sentence`{verify.status ${sessionId}} will show the result once its tests have been rerun`,
  });
}
