import { createHash, timingSafeEqual } from 'node:crypto';
import type { BotSettings } from '../bot-settings.ts';
import type { ChatAnswer, ChatRequest } from '../service.ts';
import type { UpdateHandler } from './handle-updates.ts';

const hashSecret = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time. */
const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hashSecret(one), hashSecret(other));

/** Returns a function that answers Telegram's requests to this server. */
export function createWebhookReceiver(
  webhook: BotSettings['telegram']['webhook'],
  updates: Pick<UpdateHandler, 'attempt'>,
) {
  return async ({ path, headers, body }: ChatRequest): Promise<ChatAnswer> => {
    if (webhook === null || !isSameSecret(path, webhook.path)) return { status: 404 };
    if (!isSameSecret(headers['x-telegram-bot-api-secret-token'] ?? '', webhook.secret))
      return { status: 401 };
    let given: unknown;
    try {
      given = JSON.parse(body.toString('utf8'));
    } catch {
      return { status: 400 };
    }
    // Failed updates are sent again.
    return (await updates.attempt(given)) ? { status: 200 } : { status: 500 };
  };
}
