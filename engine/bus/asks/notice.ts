import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { formatAge } from '../../core/base/text.ts';
import type { Messages } from '../messages/index.ts';
import type { Ask } from './rows.ts';

/** Sends an ask as a message, and acknowledges that message once the ask is closed. Call inside `storage.write`. */
export interface AskNotice {
  opened(ask: Ask): void;
  closed(ask: Ask): void;
}

const nameOrigin = (ask: Ask): string => `ask ${ask.id}`;

function formatAskNotice({ id, fromSession, question, context, options, createdAt, expiresAt }: Ask): string {
  const waits = formatAge(createdAt, Date.parse(expiresAt));
  const parts = [`${fromSession ?? 'Someone'} asks, and waits ${waits} for the answer:`, question];
  if (context !== null) parts.push(`Context:\n${context}`);
  if (options.length > 0)
    parts.push(`The answer is one of:\n${options.map((each) => `- ${each}`).join('\n')}`);
  parts.push(renderWords(sentence`Answer with {ask.answer ${id} <answer>}.`, 'anyone'));
  return parts.join('\n\n');
}

/** An ask is also a message, so that it reaches an agent by any message channel. */
export const createAskNotice = (messages: Messages): AskNotice => ({
  opened(ask) {
    messages.send(
      {
        kind: 'note',
        body: formatAskNotice(ask),
        payloadPath: null,
        fromSession: ask.fromSession,
        fromAgent: null,
        fromName: null,
        parentId: null,
        taskId: ask.taskId,
        origin: nameOrigin(ask),
      },
      [{ toSession: ask.toSession, toWorker: null, toAgent: null }],
      { actor: null, via: 'engine' },
    );
  },
  closed(ask) {
    for (const { id, acked_at } of messages.ofOrigin(nameOrigin(ask))) {
      if (acked_at === null) messages.ackAs(id, 'svc', { actor: null, via: 'engine' });
    }
  },
});
