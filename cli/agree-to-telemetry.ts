import { type EngineClient, isDoNotTrackSet } from '../engine/index.ts';
import type { CommandContext } from './command.ts';

/** Explains, as a clause, why no command of this terminal can agree to anything; null if one can. */
export const findTerminalRefusal = ({ env }: Pick<CommandContext, 'env'>): string | null =>
  isDoNotTrackSet(env) ? 'DO_NOT_TRACK is set in this terminal' : null;

/** Records that the person at this terminal has seen what a schema sends. False if the environment refuses that. */
export async function agreeToTelemetry(
  context: Pick<CommandContext, 'env'>,
  client: EngineClient,
  schema: number,
): Promise<boolean> {
  if (findTerminalRefusal(context) !== null) return false;
  await client.call('telemetry.agree', { schema });
  return true;
}
