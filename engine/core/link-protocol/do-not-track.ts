/** Whether an environment refuses all telemetry: whatever `DO_NOT_TRACK` says but no. */
export const isDoNotTrackSet = (env: NodeJS.ProcessEnv): boolean =>
  !['', '0', 'false', 'no', 'off'].includes((env.DO_NOT_TRACK ?? '').trim().toLowerCase());
