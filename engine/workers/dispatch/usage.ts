import type { Session } from '../../bus/sessions/index.ts';
import type { StreamFacts, Usage } from '../streams/stream.ts';
import { presetFor } from './command.ts';
import type { DispatchDeps } from './context.ts';

/** A longer chain of sessions that go on with one another has been broken by hand. */
const LONGEST_CHAIN = 100;

/**
 * What a run has said, with the tokens of this run alone: some agents count their whole conversation, in which those of
 * the runs before, recorded already, are contained.
 */
export function ofThisRun(
  deps: Pick<DispatchDeps, 'agents' | 'sessions'>,
  session: Session,
  facts: StreamFacts,
): StreamFacts {
  if (facts.usage === null || session.transport === 'acp') return facts;
  if (presetFor(deps, session)?.countsConversation !== true) return facts;
  let { usage } = facts;
  let before: Session | null = session;
  for (let chain = 0; before !== null && chain < LONGEST_CHAIN; chain += 1) {
    if (before.usage !== null && before.agentSession === facts.agentSession)
      usage = less(usage, before.usage);
    before = before.continues === null ? null : deps.sessions.get(before.continues);
  }
  return { ...facts, usage };
}

const less = (whole: Usage, part: Usage): Usage => ({
  input: Math.max(0, whole.input - part.input),
  cached: Math.max(0, whole.cached - part.cached),
  output: Math.max(0, whole.output - part.output),
  costUsd: whole.costUsd === null ? null : Math.max(0, whole.costUsd - (part.costUsd ?? 0)),
});
