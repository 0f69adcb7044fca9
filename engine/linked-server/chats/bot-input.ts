import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import type { ChatKind } from '../database/tables.ts';
import { BOT_INPUTS, type BotSettings, identifyBot } from './bot-settings.ts';

/** Reads the operator's input about a bot. Throws `fields_invalid`, which repeats no value, and `usage`. */
export function readBotInput(
  kind: ChatKind,
  input: unknown,
  origin: string,
): { settings: BotSettings[ChatKind]; identity: string } {
  const read = BOT_INPUTS[kind].safeParse(input);
  if (!read.success)
    throw new SvcError('fields_invalid', read.error.issues.map(({ message }) => message).join('; '));
  if (kind === 'telegram') {
    const { token, webhook } = read.data as z.output<(typeof BOT_INPUTS)['telegram']>;
    if (webhook && !origin.startsWith('https:'))
      throw new SvcError('usage', 'Telegram only sends updates to an https address', {
        hint: 'start the server with --public-url https://…, or let it poll for updates',
      });
    const settings = {
      token,
      webhook: webhook
        ? { path: randomBytes(24).toString('base64url'), secret: randomBytes(32).toString('base64url') }
        : null,
    };
    return { settings, identity: identifyBot.telegram(settings) };
  }
  const given = read.data as z.output<(typeof BOT_INPUTS)['slack']>;
  const settings = {
    botToken: given.bot_token,
    appToken: given.app_token,
    signingSecret: given.signing_secret,
    teamId: given.team_id,
    appId: given.app_id,
  };
  return { settings, identity: identifyBot.slack(settings) };
}
