export { findKeyBeforeLogin } from '../agents/find-payer.ts';
export { addOptions, listPrograms, locateAgentIn } from '../agents/locate-agent.ts';
/** Agent presets, which of their programs are installed, and how to start one for a person. */
export { describeAbility } from '../agents/presets/ability.ts';
export { detectAgents } from '../agents/presets/detect.ts';
export {
  ACP,
  findPreset,
  HEADLESS,
  INTERACTIVE,
  NOTIFY,
  PASSED_ON,
  PRESETS,
  withArguments,
} from '../agents/presets/index.ts';
export { findProgram } from '../agents/program.ts';
export { renderCommand, splitCommand } from '../agents/template.ts';
export { writeFreshFile } from '../base/fresh-file.ts';
