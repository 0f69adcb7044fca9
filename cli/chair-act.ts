import { asSvcError } from '../engine/core/base/errors.ts';
import { type EngineClient, ownSeat } from '../engine/index.ts';
import type { CommandContext } from './command.ts';

/** Errors that mean that no engine can be asked: it is not running, it hangs, or svc.yaml does not name it. */
const NOBODY = new Set(['engine_not_running', 'engine_unreachable', 'config_invalid']);

/**
 * Checks an action that belongs to the Chair and must not need an engine: a svc.yaml that keeps an engine from
 * starting has to be fixable. A running engine decides about the seat; otherwise callers from a worker's run are
 * refused here. Throws `chair_only`.
 * @param what the action: `svc trust`
 */
export async function actAsChair<T>(
  { engine, env }: Pick<CommandContext, 'engine' | 'env'>,
  what: string,
  {
    patienceMs,
    ask,
    alone,
  }: { patienceMs?: number; ask(client: EngineClient): Promise<T>; alone(): Promise<T> },
): Promise<T> {
  let client: EngineClient;
  try {
    client = await engine({ start: false, ...(patienceMs === undefined ? {} : { patienceMs }) });
  } catch (thrown) {
    if (!NOBODY.has(asSvcError(thrown).code)) throw thrown;
    (await ownSeat()).refuseInsideRun(what, env);
    return alone();
  }
  return ask(client);
}
