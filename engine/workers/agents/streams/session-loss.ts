import { dropColours } from '../../../core/base/text.ts';

/** Messages of agents, on a separate line and before any action, if the session to resume does not exist. */
const LOST: readonly RegExp[] = [
  // claude
  /^No conversation found with session ID/,
  // codex
  /no rollout found for thread id/,
  // gemini, which keeps nothing of a session whose first request failed
  /^Error resuming session: /,
  // opencode
  /Error: Session not found$/,
  // qwen
  /^No saved session found with ID/,
  // copilot
  /^Error: No session, task, or name matched/,
];

/** Reports whether a line of output means that the agent does not have the session to resume. */
export function isSessionLoss(line: string): boolean {
  if (line.startsWith('{') || line.length > 1000) return false;
  const plain = dropColours(line).trim();
  return LOST.some((pattern) => pattern.test(plain));
}
