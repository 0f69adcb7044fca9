import {
  type CallProblem,
  type LimitCall,
  PATIENCE_MS,
  readProblem,
  type TelegramCalls,
} from '../../../core/http/telegram-api.ts';
import { renderText } from '../../../core/http/telegram-text.ts';
import { type ChatMessage, ChatSendError } from '../service.ts';
import { renderButtons } from './render.ts';

const render = ({ lines, buttons }: ChatMessage) => {
  const { text, entities } = renderText(lines);
  return {
    text,
    other: {
      entities,
      link_preview_options: { is_disabled: true },
      reply_markup: { inline_keyboard: renderButtons(buttons) },
    },
  };
};

function toSendError({ kind, message, retryAfterMs }: CallProblem): ChatSendError {
  if (kind === 'gone') return new ChatSendError('gone', message);
  if (kind === 'token' || kind === 'refused') return new ChatSendError('refused', message);
  return new ChatSendError('later', message, retryAfterMs);
}

/** Sends messages and changes them. */
export function createSending({
  api,
  limitCall,
  onRefused,
}: {
  api: TelegramCalls;
  limitCall: LimitCall;
  /** Called when Telegram refuses the token of the bot. */
  onRefused(problem: string): void;
}) {
  /** Calls Telegram about a message. Throws `ChatSendError`. */
  async function sendOrFail<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (thrown) {
      const problem = readProblem(thrown);
      if (problem.kind === 'unchanged') return null;
      if (problem.kind === 'token') onRefused(problem.message);
      throw toSendError(problem);
    }
  }

  return {
    sendOrFail,
    async send(channel: string, message: ChatMessage): Promise<string> {
      const { text, other } = render(message);
      const sent = await sendOrFail(() => api.sendMessage(channel, text, other, limitCall(PATIENCE_MS)));
      return String(sent?.message_id);
    },
    async edit(channel: string, messageId: string, message: ChatMessage): Promise<void> {
      const { text, other } = render(message);
      await sendOrFail(() =>
        api.editMessageText(channel, Number(messageId), text, other, limitCall(PATIENCE_MS)),
      );
    },
  };
}
