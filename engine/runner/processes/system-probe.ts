import { linuxProbe, type Probe } from './probe.ts';
import { darwinProbe } from './probe-darwin.ts';

export const systemProbe = (): Probe => (process.platform === 'linux' ? linuxProbe() : darwinProbe());
