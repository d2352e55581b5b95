// tokenizer_dump TOKENIZER.json [TOKENIZER_CONFIG.json]
//
// Reads one JSON request per line, {"encode": "text", "special": false} or {"decode": [ids], "skip_special": false},
// and writes one JSON value per line: the ids, the text, or {"error": "…"}.

#include <iostream>
#include <lockstep/diagnostic.hpp>
#include <nlohmann/json.hpp>

#include "processor/tokenizer.hpp"

namespace {

using nlohmann::json;

json answer(const gemma4::Tokenizer& tokenizer, const json& request) {
  try {
    if (request.contains("encode")) {
      return tokenizer.encode(request.at("encode").get<std::string>(), request.value("special", false));
    }
    return tokenizer.decode(request.at("decode").get<std::vector<std::int64_t>>(),
                            request.value("skip_special", false));
  } catch (const lockstep::Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: tokenizer_dump TOKENIZER.json [TOKENIZER_CONFIG.json] < requests > answers\n";
    return 2;
  }
  try {
    const auto tokenizer =
        argc == 3 ? gemma4::Tokenizer::from_files(argv[1], argv[2]) : gemma4::Tokenizer::from_file(argv[1]);
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(tokenizer, json::parse(line)) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
