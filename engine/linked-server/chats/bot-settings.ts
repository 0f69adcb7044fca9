import { z } from 'zod';
import type { ChatKind } from '../database/tables.ts';
import type { SlackSettings } from './slack/index.ts';

// An operator's input for a bot. Messages about it repeat no value.

const text = (pattern: RegExp, message: string) => z.string().trim().regex(pattern, message);
/** Treats an empty field as missing. */
const optional = (schema: z.ZodType<string>) =>
  z.preprocess((given) => (given === '' || given === undefined ? null : given), schema.nullable());

const telegramInput = z.strictObject({
  token: text(/^\d{3,20}:[\w-]{20,100}$/, 'the token of a Telegram bot looks like 123456:ABC…'),
  webhook: z.boolean().prefault(false),
});

const slackInput = z
  .strictObject({
    bot_token: text(/^xoxb-[\w-]{10,250}$/, "the bot's token of a Slack app starts with xoxb-"),
    app_token: optional(text(/^xapp-[\w-]{10,250}$/, "an app's token of Slack starts with xapp-")),
    signing_secret: optional(
      text(/^[0-9a-f]{32,64}$/, 'the signing secret of a Slack app has 32 hex digits'),
    ),
    team_id: text(/^T[A-Z0-9]{2,30}$/, "a Slack workspace's id looks like T0123ABCD"),
    app_id: optional(text(/^A[A-Z0-9]{2,30}$/, "a Slack app's id looks like A0123ABCD")),
  })
  .refine(({ app_token, signing_secret, app_id }) => app_token !== null || (signing_secret && app_id), {
    message: "it requires the app's token (Socket Mode), or the signing secret and the app's id (requests)",
  });

/** The settings of a bot, by its service. */
export const BOT_INPUTS = { slack: slackInput, telegram: telegramInput } as const satisfies Record<
  ChatKind,
  z.ZodType
>;

/** As stored, encrypted. */
export interface BotSettings {
  slack: SlackSettings;
  telegram: {
    token: string;
    /** The URL that Telegram sends updates to, its secret, and the API address that knows it; null for polling. */
    webhook: { path: string; secret: string; api?: string } | null;
  };
}

/** The owner of users and messages: only this bot knows them. */
export const identifyBot = {
  slack: ({ teamId }: BotSettings['slack']): string => teamId ?? '',
  telegram: ({ token }: BotSettings['telegram']): string => token.split(':', 1)[0] ?? '',
};

/** The settings to ask for, by service. */
export const BOT_FIELDS: Record<
  ChatKind,
  readonly { name: string; label: string; hint: string; isSecret: boolean; isOptional: boolean }[]
> = {
  telegram: [
    {
      name: 'token',
      label: 'Token of the bot',
      hint: 'BotFather shows it: 123456:ABC…',
      isSecret: true,
      isOptional: false,
    },
  ],
  slack: [
    {
      name: 'bot_token',
      label: 'Token of the bot',
      hint: 'OAuth & Permissions: xoxb-…',
      isSecret: true,
      isOptional: false,
    },
    {
      name: 'app_token',
      label: 'Token of the app',
      hint: 'for Socket Mode, with connections:write: xapp-…',
      isSecret: true,
      isOptional: true,
    },
    {
      name: 'signing_secret',
      label: 'Signing secret',
      hint: 'if Slack sends requests to this server instead',
      isSecret: true,
      isOptional: true,
    },
    {
      name: 'team_id',
      label: 'Id of the Slack workspace',
      hint: 'T… in the address of Slack in a browser',
      isSecret: false,
      isOptional: false,
    },
    {
      name: 'app_id',
      label: 'Id of the app',
      hint: 'Basic Information: A…; required if Slack sends requests',
      isSecret: false,
      isOptional: true,
    },
  ],
};
