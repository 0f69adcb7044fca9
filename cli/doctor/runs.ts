import { doctorChecks } from '../../engine/index.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  type RunningEngine,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';

const MARKS =
  'runs are tracked only by marks in their environment: a process that clears it and loses its parents outlives its run';

/** Checks how runs are contained, by the running engine, and whether its callers can be identified. */
export async function checkRuns(
  env: NodeJS.ProcessEnv,
  workspace: CheckedWorkspace,
  engine: RunningEngine | null,
): Promise<DoctorCheck[]> {
  const { CONTAINMENT_REMEDY, findCallerProblem, findContainment, findMissingRights } = await doctorChecks();
  const kind = engine?.containment ?? (await findContainment(workspace.paths.data, env));
  const problem = await findCallerProblem();
  const missing = kind === 'marks' ? await findMissingRights(env) : [];
  const hasNamespaces = missing.every((name) => name === 'cgroups');
  return [
    kind === 'marks'
      ? CONTAINMENT_REMEDY === null
        ? reportPass('containment', MARKS)
        : reportWarning(
            'containment',
            `${MARKS}${missing.length === 0 ? '' : `; not allowed here: ${missing.join(', ')}`}`,
            `${hasNamespaces ? 'install bubblewrap (apt install bubblewrap)' : 'allow what is missing'}, or ${CONTAINMENT_REMEDY}`,
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
