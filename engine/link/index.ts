/** This machine's side of a linked server. */
export {
  askLoginState,
  checkServerUrl,
  findLogin,
  type LoginPrompt,
  type LoginState,
  logIn,
  logOut,
} from './machine-login.ts';
