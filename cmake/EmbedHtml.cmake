# Writes OUTPUT, the C++ source that holds the page of the HTML report: cmake -DFOLDER=… -DOUTPUT=… -P EmbedHtml.cmake
#
# The scripts are joined in this order: each uses what stands before it when the page starts.
set(scripts dom numbers model summary filters checks pipeline difference plots ladder about main)

function(read_files result)
  set(text "")
  foreach(name IN LISTS ARGN)
    file(READ ${FOLDER}/${name} content)
    string(APPEND text "${content}")
  endforeach()
  if(text MATCHES "\\)embedded\"" OR (NOT ARGN MATCHES "page.html" AND text MATCHES "</s(cript|tyle)"))
    message(FATAL_ERROR "${ARGN}: holds text that would end the place that it is embedded in")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

list(TRANSFORM scripts APPEND .js)
read_files(page page.html)
read_files(style style.css)
read_files(script ${scripts})
file(WRITE ${OUTPUT} "#include \"report/html_page.hpp\"

namespace lockstep::html_page {
const std::string_view page = R\"embedded(${page})embedded\";
const std::string_view style = R\"embedded(${style})embedded\";
const std::string_view script = R\"embedded(${script})embedded\";
}  // namespace lockstep::html_page
")
