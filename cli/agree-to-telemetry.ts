import { type EngineClient, isDoNotTrackSet } from '../engine/index.ts';
import type { Context } from './command.ts';

/** Why no command of this terminal agrees to anything, as a clause; null when it may. */
export const findTerminalRefusal = ({ env }: Pick<Context, 'env'>): string | null =>
  isDoNotTrackSet(env) ? 'DO_NOT_TRACK is set in this terminal' : null;

/** Says that the person of this terminal has seen what a schema sends. False where its environment refuses that. */
export async function agreeToTelemetry(
  context: Pick<Context, 'env'>,
  client: EngineClient,
  schema: number,
): Promise<boolean> {
  if (findTerminalRefusal(context) !== null) return false;
  await client.call('telemetry.agree', { schema });
  return true;
}
