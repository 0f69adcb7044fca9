import { administer } from './administer.ts';
import { SLACK_API } from './chats/api-addresses.ts';
import type { ServerOptions } from './create-parts.ts';
import { ORIGIN_KEY, openParts } from './open-parts.ts';

/**
 * Runs a command on the folder of a server that is not running. Its addresses are based on the last run; if there was
 * none, they are guessed.
 */
export async function administerClosed(
  options: ServerOptions,
  guess: string,
  verb: string,
  input: unknown,
): Promise<{ result: unknown; isGuessed: boolean }> {
  const { parts, close } = await openParts(options, {
    origin: guess,
    isTrustedProxy: () => false,
    isAllowedTarget: () => false,
    telegramApi: null,
    slackApi: SLACK_API,
  });
  try {
    const kept = await parts.db
      .selectFrom('meta')
      .select('value')
      .where('key', '=', ORIGIN_KEY)
      .executeTakeFirst();
    const result = await administer({ ...parts, origin: kept?.value ?? guess }, verb, input);
    return { result, isGuessed: kept === undefined };
  } finally {
    await close();
  }
}
