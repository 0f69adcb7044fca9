import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { ClaimedUsage } from './usage.ts';

/** Total usage of agents' conversations, over all sessions and runs that continued them. */
export interface ConversationUsages {
  /** Returns null for an unknown conversation. */
  conversationUsage(taskId: string, agentSession: string): ClaimedUsage | null;
  /** Records the reported total, otherwise adds the run's own usage. Call inside `storage.write`. */
  add(
    taskId: string,
    agentSession: string,
    told: { usage: ClaimedUsage | null; conversation: ClaimedUsage | null },
  ): void;
}

interface Row {
  tokens_in: number;
  tokens_cached: number;
  tokens_out: number;
  cost_usd: number | null;
}

export function createConversationUsages({ db }: Pick<Storage, 'db'>): ConversationUsages {
  const one = db.prepare<unknown[], Row>(
    'SELECT * FROM conversation_usage WHERE task_id = ? AND agent_session = ?',
  );
  const put = db.prepare(`INSERT OR REPLACE INTO conversation_usage
    (task_id, agent_session, tokens_in, tokens_cached, tokens_out, cost_usd) VALUES (?, ?, ?, ?, ?, ?)`);

  function conversationUsage(taskId: string, agentSession: string): ClaimedUsage | null {
    const row = one.get(parseId('t', taskId), agentSession);
    if (row === undefined) return null;
    const { tokens_in: input, tokens_cached: cached, tokens_out: output, cost_usd: costUsd } = row;
    return { input, cached, output, costUsd };
  }

  return {
    conversationUsage,
    add(taskId, agentSession, { usage, conversation }) {
      const before = conversationUsage(taskId, agentSession);
      const whole = conversation ?? (usage === null || before === null ? usage : addUsages(before, usage));
      if (whole === null) return;
      const { input, cached, output, costUsd } = whole;
      put.run(parseId('t', taskId), agentSession, input, cached, output, costUsd);
    },
  };
}

const addUsages = (one: ClaimedUsage, other: ClaimedUsage): ClaimedUsage => ({
  input: one.input + other.input,
  cached: one.cached + other.cached,
  output: one.output + other.output,
  costUsd: one.costUsd === null && other.costUsd === null ? null : (one.costUsd ?? 0) + (other.costUsd ?? 0),
});
