import type { Kysely } from 'kysely';
import type { ChatKind, Tables } from '../database/tables.ts';
import type { SecretSealer } from '../sealing.ts';
import { type BotSettings, identifyBot } from './bot-settings.ts';

/** The encryption context of a bot's settings. */
export const placeOfBot = (kind: ChatKind): string => `bots.settings.${kind}`;

export type BotStore = ReturnType<typeof createBotStore>;

/** The stored settings of bots, which contain secrets. */
export function createBotStore({ db, sealer }: { db: Kysely<Tables>; sealer: SecretSealer }) {
  const sealBot = (kind: ChatKind, settings: BotSettings[ChatKind]): string =>
    sealer.seal(JSON.stringify(settings), placeOfBot(kind));

  async function readSettings<K extends ChatKind>(kind: K): Promise<BotSettings[K] | null> {
    const row = await db.selectFrom('bots').select('settings').where('kind', '=', kind).executeTakeFirst();
    if (row === undefined) return null;
    return JSON.parse(sealer.unseal(row.settings, placeOfBot(kind))) as BotSettings[K];
  }

  /** Records which API knows the webhook, so that a command can remove it there when no server is running. */
  async function noteApi(api: string | null): Promise<void> {
    const settings = await readSettings('telegram');
    if (api === null || !settings?.webhook || settings.webhook.api === api) return;
    const noted = { ...settings, webhook: { ...settings.webhook, api } };
    await db
      .updateTable('bots')
      .set({ settings: sealBot('telegram', noted) })
      .where('kind', '=', 'telegram')
      .execute();
  }

  const identityOf = async (kind: ChatKind): Promise<string | null> => {
    const before = await readSettings(kind).catch(() => null);
    if (before === null) return null;
    return kind === 'telegram'
      ? identifyBot.telegram(before as BotSettings['telegram'])
      : identifyBot.slack(before as BotSettings['slack']);
  };

  return {
    seal: sealBot,
    unseal: (kind: ChatKind, sealed: string): unknown => JSON.parse(sealer.unseal(sealed, placeOfBot(kind))),
    noteApi,
    identityOf,
  };
}
