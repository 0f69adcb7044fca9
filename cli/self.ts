import { fileURLToPath } from 'node:url';

/** The built program, for starting itself. */
export const SVC = fileURLToPath(new URL('./svc.js', import.meta.url));

/** The program that hosts an engine in the background: this one. */
export const daemonCommand = (): string[] => [process.execPath, SVC, 'daemon'];
