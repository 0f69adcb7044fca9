import type { StreamFacts, StreamUsage } from '../workers/agents/index.ts';
import type { Session, Sessions } from '../workers/sessions/index.ts';

/**
 * Reduces a run's usage to its own tokens: for an agent that counts its whole conversation, earlier totals are
 * subtracted. Without any tokens the usage is unknown, which is null and not 0.
 */
export function takeOwnUsage(
  { sessions }: { sessions: Pick<Sessions, 'conversationUsage' | 'get'> },
  session: Pick<Session, 'taskId' | 'continues'>,
  facts: StreamFacts,
): StreamFacts {
  const { agentSession, conversation } = facts;
  const before = agentSession === null ? null : findEarlierUsage(sessions, session, agentSession);
  const own =
    conversation === null
      ? facts.usage
      : before === null
        ? conversation
        : subtractUsage(conversation, before);
  const usage = own === null || own.input + own.output === 0 ? null : own;
  // A zero total comes from a run without an answer.
  const isTotal = conversation !== null && conversation.input + conversation.output > 0;
  return { ...facts, usage, conversation: isTotal ? conversation : null };
}

/** A follow-up is another task, which continues the conversation of the former one. */
const findEarlierUsage = (
  sessions: Pick<Sessions, 'conversationUsage' | 'get'>,
  { taskId, continues }: Pick<Session, 'taskId' | 'continues'>,
  agentSession: string,
): StreamUsage | null =>
  sessions.conversationUsage(taskId, agentSession) ??
  (continues === null ? null : sessions.conversationUsage(sessions.get(continues).taskId, agentSession));

function subtractUsage(whole: StreamUsage, part: StreamUsage): StreamUsage {
  // It has restarted its count.
  if (whole.input < part.input || whole.output < part.output) return whole;
  return {
    input: whole.input - part.input,
    cached: Math.max(0, whole.cached - part.cached),
    output: whole.output - part.output,
    costUsd: whole.costUsd === null ? null : Math.max(0, whole.costUsd - (part.costUsd ?? 0)),
  };
}
