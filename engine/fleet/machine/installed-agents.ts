import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../core/base/find-program.ts';
import { listFleetAgents } from '../fleet-agents.ts';
import type { Heartbeat } from '../messages.ts';

/** Lists the agents whose programs are installed on this machine, and whether each is logged in. */
export const listInstalledAgents = ({ HOME, PATH }: NodeJS.ProcessEnv): Heartbeat['agents'] =>
  listFleetAgents().flatMap(({ name, program, loginFiles }) =>
    findProgram(program, { cwd: '/', path: PATH }) === undefined
      ? []
      : [
          {
            name,
            loggedIn:
              loginFiles.length === 0 || HOME === undefined
                ? null
                : loginFiles.some((file) => existsSync(join(HOME, file))),
          },
        ],
  );
