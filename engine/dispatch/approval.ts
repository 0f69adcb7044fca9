import type { InputChange } from '../board/decisions/index.ts';
import type { DispatchOptions } from '../board/index.ts';
import { chooseStrongerProfile } from '../core/access/guard-profile.ts';
import { SvcError } from '../core/base/errors.ts';
import type { Placement, Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

type Deps = Pick<DispatchDeps, 'approvals' | 'profile'>;

/** The run that would be made is not the one that somebody approved. */
export const inputsChangedError = (
  { sessionId, decisionId }: Session,
  changes: readonly InputChange[],
): SvcError =>
  new SvcError(
    'inputs_changed',
    `${sessionId} no longer matches what ${decisionId} approved (changed: ${changes.map(({ input }) => input).join(', ')})`,
    { data: { changes } },
  );

/** Finds why an approval holds no longer; null for any other failure. */
export const findChanges = (error: SvcError): readonly InputChange[] | null =>
  error.code === 'inputs_changed' && Array.isArray(error.data.changes)
    ? (error.data.changes as InputChange[])
    : null;

/** Throws `inputs_changed` when a run made at this moment is not what was approved. Its profile is that of `chooseProfile`. */
export function checkApproved({ approvals }: Deps, session: Session): void {
  // A worktree that is there is not made from its base again.
  const isMoot = (input: string): boolean =>
    input === 'profile' || (input === 'base' && session.worktree !== null);
  const changes = approvals.changesSince(session).filter(({ input }) => !isMoot(input));
  if (changes.length > 0) throw inputsChangedError(session, changes);
}

/**
 * Chooses a run's profile: the approved one, that of the run before, or the one that is configured by now, whichever
 * keeps the most from the worker.
 */
export function chooseProfile({ approvals, profile }: Deps, session: Session): string {
  const { inputs } = approvals.boundTo(session.decisionId);
  return [session.profile, profile()].reduce<string>(
    (strongest, each) => (each === null ? strongest : chooseStrongerProfile(strongest, each)),
    inputs?.profile ?? profile(),
  );
}

/** Tells what the live sessions of this host were asked for, by their decisions. */
export function createOptionsOfLive({
  sessions,
}: Pick<DispatchDeps, 'sessions'>): (decisionId: string) => DispatchOptions | null {
  const live = new Map(sessions.listLive().map((session) => [session.decisionId, session]));
  return (decisionId) => {
    const session = live.get(decisionId);
    if (session === undefined) return null;
    const { sessionId, inplace, keepWorktree, baseWanted, timeoutSec, tokenBudget, continues } = session;
    return {
      inplace,
      keepWorktree,
      timeoutSec,
      base: baseWanted ?? undefined,
      tokenBudget: tokenBudget ?? undefined,
      continues: continues ?? undefined,
      gatewayBypass: sessions.private(sessionId).bypassesGateway,
    };
  };
}

/** Throws `inputs_changed` when git made the worktree from another base than the approved one: HEAD may have moved meanwhile. */
export function checkBase({ approvals }: Deps, session: Session, { base, baseCommit }: Placement): void {
  const { inputs } = approvals.boundTo(session.decisionId);
  const before = inputs?.base ?? null;
  const after = base ?? baseCommit;
  if (before === null || before === after) return;
  throw inputsChangedError(session, [{ input: 'base', before, after }]);
}
