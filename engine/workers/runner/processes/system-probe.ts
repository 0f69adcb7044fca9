import { createLinuxProbe, type ProcessProbe } from './probe.ts';
import { createDarwinProbe } from './probe-darwin.ts';

export const createSystemProbe = (): ProcessProbe =>
  process.platform === 'linux' ? createLinuxProbe() : createDarwinProbe();
