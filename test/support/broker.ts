import { findProgram } from '../../engine/core/base/find-program.ts';

/** Why tests with a broker are skipped; false if they run. */
export const BROKER_MISSING: string | false =
  findProgram('nats-server', { cwd: '/', path: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` }) ===
  undefined
    ? 'nats-server is not installed'
    : false;
