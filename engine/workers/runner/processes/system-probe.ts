import { createLinuxProbe, type Probe } from './probe.ts';
import { createDarwinProbe } from './probe-darwin.ts';

export const createSystemProbe = (): Probe =>
  process.platform === 'linux' ? createLinuxProbe() : createDarwinProbe();
