export { findProgram } from '../../core/base/find-program.ts';
export { writeFreshFile } from '../../core/base/fresh-file.ts';
export { detectAgents } from '../../workers/agents/detect.ts';
export { findKeyBeforeLogin } from '../../workers/agents/find-payer.ts';
export { INSTALL_LINES } from '../../workers/agents/install-lines.ts';
export { addOptions, listPrograms, locateAgentIn } from '../../workers/agents/locate-agent.ts';
/** Agent presets, which of their programs are installed, and how to start one for a person. */
export { describeAbility } from '../../workers/agents/presets/ability.ts';
export {
  ACP,
  findPreset,
  HEADLESS,
  INTERACTIVE,
  NOTIFY,
  PASSED_ON,
  PRESETS,
  withArguments,
} from '../../workers/agents/presets/index.ts';
export { renderCommand, splitCommand } from '../../workers/agents/template.ts';
