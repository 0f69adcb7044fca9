import { asSvcError, type EngineClient, ownSeat } from '../engine/index.ts';
import type { Context } from './command.ts';

/** What says that there is no engine to be asked: it does not run, hangs, or svc.yaml does not tell where it is. */
const NOBODY = new Set(['engine_not_running', 'engine_unreachable', 'config_invalid']);

/**
 * What is the Chair's alone and must not need an engine: a svc.yaml that keeps one from starting has to be mended. Where
 * one runs it decides about the seat; else whoever belongs to a worker's run is refused here. Throws `chair_only`.
 * @param what is done: `svc trust`
 */
export async function actAsChair<T>(
  { engine, env }: Pick<Context, 'engine' | 'env'>,
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
