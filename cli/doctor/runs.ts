import { doctorChecks } from '../../engine/index.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  type RunningEngine,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';

/** Checks how runs are contained, by the running engine, and whether its callers can be identified. */
export async function checkRuns(
  env: NodeJS.ProcessEnv,
  workspace: CheckedWorkspace,
  engine: RunningEngine | null,
): Promise<DoctorCheck[]> {
  const { findCallerProblem, findContainment } = await doctorChecks();
  const kind = engine?.containment ?? (await findContainment(workspace.paths.data, env));
  const problem = await findCallerProblem();
  return [
    kind === 'marks'
      ? reportWarning(
          'containment',
          'runs are tracked only by marks in their environment: a process that clears it and loses its parents outlives its run',
          'install bubblewrap (apt install bubblewrap), or start the engine where it may create cgroups, for example with systemd-run --user --scope -p Delegate=yes svc up; see docs/use/run-ends.md',
        )
      : reportPass(
          'containment',
          kind === 'cgroup' ? 'each run has a cgroup' : 'each run has a pid namespace',
        ),
    problem === null
      ? reportPass('caller identity', 'by the kernel')
      : reportFailure(
          'caller identity',
          `callers cannot be identified, so no one has the Chair seat: ${problem}`,
          'install svc again for this Node and this machine, with its optional packages: npm install',
        ),
  ];
}
