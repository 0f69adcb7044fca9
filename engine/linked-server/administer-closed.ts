import { administer } from './administer.ts';
import { SLACK_API } from './http/settings.ts';
import { ORIGIN_KEY, openParts, type ServerOptions } from './open-parts.ts';

/**
 * Does one thing that a command asks for on a folder on which no server runs. What it says of addresses is as the server was
 * reached last; where none has run yet, that is guessed.
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
