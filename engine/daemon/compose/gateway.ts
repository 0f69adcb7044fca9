import { readEnvironmentFlag } from '../../config/index.ts';
import { locateProgram } from '../../core/base/own-package.ts';
import { createEngineGateway } from '../../gateway/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/** Builds the engine's side of `engine/gateway`. */
export function createGatewayModule({
  storage,
  events,
  clock,
  log,
  paths,
  env,
  ...shared
}: SharedDependencies) {
  const gateway = createEngineGateway({
    storage,
    events,
    clock,
    log,
    data: paths.data,
    dataId: shared.dataId,
    db: paths.db,
    config: shared.config,
    secret: shared.secret,
    env,
    shortener: locateProgram('shorten-output'),
    skipsStart: readEnvironmentFlag(env, 'SVC_SKIP_GATEWAY_AUTOSTART'),
  });
  shared.closing(gateway.close);
  return gateway;
}
