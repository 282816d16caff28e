import { render } from "preact";
import { setApi } from "./api/api";
import { httpApi } from "./api/http";
import { App } from "./app";
import { takeKey } from "./commands/commands";
import { addExtras } from "./extras";
import "./styles.css";

setApi(httpApi());
addExtras();
addEventListener("keydown", takeKey);
const root = document.getElementById("app");
if (root) render(<App />, root);
