import { type LimitCall, PATIENCE_MS, type TelegramCalls } from '../../../core/http/telegram-api.ts';
import type { BotSettings } from '../bot-settings.ts';
import { UPDATES } from './poll-updates.ts';

/** Makes a bot ready to receive, by its webhook if it has one. */
export async function prepareBot(
  api: TelegramCalls,
  {
    webhook,
    origin,
    limitCall,
    onNamed,
  }: {
    webhook: BotSettings['telegram']['webhook'];
    origin: string;
    limitCall: LimitCall;
    /** Called with the name of the bot as soon as it is known. */
    onNamed(name: string): void;
  },
): Promise<void> {
  onNamed((await api.getMe(limitCall(PATIENCE_MS, true))).username);
  if (webhook === null) {
    await api.deleteWebhook({ drop_pending_updates: false }, limitCall(PATIENCE_MS, true));
    return;
  }
  const address = `${origin}/chats/telegram/${webhook.path}`;
  const options = { secret_token: webhook.secret, allowed_updates: UPDATES };
  await api.setWebhook(address, options, limitCall(PATIENCE_MS, true));
}
